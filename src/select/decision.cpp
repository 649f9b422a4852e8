/// Decides by settings and rules.
#include "select/decision.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

Decision made_by(const RuleSpan& span, Bytes least, const Features& features,
                 const AddCase& add_case) {
  Decision made;
  made.text = "native: rules: none for this message size";
  made.is_by_rule = true;
  if (span.rule == nullptr) return made;
  const Choice choice = choice_of(*span.rule, features);
  made.follow(choice);
  if (choice.setting == span.rule->use) made.measured = add_case(span, least, choice.reason);
  return made;
}

/// Do rules decide otherwise for operations that do not commute?
bool depend_on_operation(const Rules& rules, Collective collective) {
  return std::ranges::any_of(rules.all, [collective](const Rule& rule) {
    const bool is_forced = rule.use.kind == Setting::Kind::forced;
    return rule.collective == collective && reduces(collective) &&
           (rule.commutative || (is_forced && rule.use.specification.algorithm->commutative));
  });
}

/// None if no rule matches such calls at any message size. Sizes without a rule run the MPI's own.
std::optional<Decision> decision_by(const Rules& rules, Features features,
                                    const AddCase& add_case) {
  auto table = std::make_shared<SizeTable>();
  bool has_rule = false;
  for (const std::int64_t irregularity : irregularities_of(rules, features)) {
    features.irregularity = irregularity;
    Bytes least = 0;
    for (const RuleSpan& span : spans_of(rules, features)) {
      has_rule = has_rule || span.rule != nullptr;
      table->spans.push_back({irregularity, span.most, made_by(span, least, features, add_case)});
      least = span.most == NumberRange::inf ? span.most : span.most + 1;
    }
  }
  if (!has_rule) return {};
  Decision decision;
  if (table->spans.size() == 1 && table->spans[0].decision.is_native()) {
    decision = table->spans[0].decision;
  } else {
    decision.text = "native: rules decide by message size";
    decision.uses_arrivals =
        std::ranges::any_of(table->spans, &Decision::uses_background, &SizeTable::Span::decision);
    decision.table = std::move(table);
  }
  decision.needs_commutativity = depend_on_operation(rules, features.collective);
  return decision;
}

}  // namespace

void Decision::follow(const Choice& choice) {
  const Setting& setting = choice.setting;
  specification.reset();
  if (setting.kind == Setting::Kind::forced) specification = setting.specification;
  level = *setting.level;
  text = to_text(setting) + ": " + choice.reason;
}

Decision Decision::flattened() const {
  Decision flat = *this;
  flat.level = {};
  flat.text += "; runs flat because every node has a single rank";
  return flat;
}

std::size_t SizeTable::native_or(std::size_t other) const {
  const auto found = std::ranges::find_if(spans, &Decision::is_native, &Span::decision);
  return found == spans.end() ? other : static_cast<std::size_t>(found - spans.begin());
}

std::size_t SizeTable::find(Bytes block, std::int64_t irregularity) const {
  const auto first = std::ranges::lower_bound(spans, irregularity, {}, &Span::irregularity);
  const auto end =
      std::ranges::upper_bound(first, spans.end(), first->irregularity, {}, &Span::irregularity);
  const auto found = std::ranges::lower_bound(first, end - 1, block, {}, &Span::most);
  return static_cast<std::size_t>(found - spans.begin());
}

bool SizeTable::runs_native(Bytes block) const {
  for (std::int64_t irregularity = 0;; ++irregularity) {
    const Span& span = spans[find(block, irregularity)];
    irregularity = span.irregularity;
    if (!span.decision.is_native()) return false;
    if (irregularity == NumberRange::inf) return true;
  }
}

Decision decision_for(const Setting& setting, const Rules& rules, Features features,
                      const Machine& machine, const AddCase& add_case) {
  const bool is_reduction = reduces(features.collective);
  const bool is_automatic = setting.kind == Setting::Kind::automatic;
  const bool may_use_rules = is_automatic && !(is_reduction && features.reproducible);
  features.flat_only = setting.level && !setting.level->hierarchical;
  if (may_use_rules) {
    if (std::optional<Decision> ruled = decision_by(rules, features, add_case)) return *ruled;
  }
  Decision decision;
  decision.follow(choose(setting, features, machine));
  decision.is_automatic = is_automatic;
  decision.needs_commutativity = may_use_rules && depend_on_operation(rules, features.collective);
  // Neither fixed results nor whole vectors permit other candidates.
  const bool stays_native = is_reduction && (features.reproducible || features.whole);
  const bool is_open = is_automatic || !setting.level;
  if (is_open && !decision.specification && !stays_native && features.p > 1) {
    decision.is_tuned = true;
    decision.flat_only = setting.level.has_value();
  }
  if (decision.level.hierarchical) {
    decision.if_flat = std::make_shared<const Decision>(decision.flattened());
  }
  return decision;
}

}  // namespace tutti
