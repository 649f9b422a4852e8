/// Takes over rules, and resolves calls by message size.
#include "api/rule_selection.hpp"

#include <algorithm>
#include <utility>

#include "api/call.hpp"
#include "core/size_class.hpp"
#include "run/mpi/agree.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

std::size_t SizeTable::index_of(const std::optional<Bytes>& block) {
  if (block) latest = *block;
  const auto found =
      std::ranges::lower_bound(spans.begin(), spans.end() - 1, latest, {}, &Span::most);
  return static_cast<std::size_t>(found - spans.begin());
}

int RuleSelection::open(Rules rules) {
  if (rules.all.empty()) return MPI_SUCCESS;
  rules_ = std::move(rules);
  return std::ranges::any_of(rules_.all, &Rule::needs_nodes) ? nodes_.guess() : MPI_SUCCESS;
}

Decision RuleSelection::decision_for(const Rule& rule, const Features& features,
                                     const Setting& setting) const {
  const RuleLimits limits = {communicator_.agreement().had_distances,
                             communicator_.wants_background(),
                             setting.level && !setting.level->hierarchical};
  const RuleChoice choice = choice_of(rule, features, limits);
  Decision decision;
  decision.text = to_text(choice.setting) + ": " + choice.reason;
  if (choice.setting.kind == Setting::Kind::forced) {
    decision.specification = choice.setting.specification;
  }
  if (choice.setting.level) decision.level = *choice.setting.level;
  if (decision.level.hierarchical) decision.level.leaders = std::max(1, decision.level.leaders);
  return decision;
}

bool RuleSelection::decide(const Features& features, const Setting& setting, Decision& decision) {
  const std::vector<RuleSpan> spans = spans_of(rules_, features);
  if (spans.size() == 1 && spans.front().rule == nullptr) return false;
  auto table = std::make_shared<SizeTable>();
  table->collective = features.collective;
  Bytes least = 0;
  for (const RuleSpan& span : spans) {
    Decision made;
    made.text = "native: rules: none for this message size";
    if (span.rule != nullptr) {
      made = decision_for(*span.rule, features, setting);
      made.measured = add_case(*span.rule, least, span.most, made.text);
    }
    least = span.most == NumberRange::inf ? span.most : span.most + 1;
    made.is_by_rule = true;
    table->spans.push_back({span.most, std::move(made)});
  }
  decision = {};
  if (spans.size() == 1 && table->spans[0].decision.is_native()) {
    decision = table->spans[0].decision;
  } else {
    decision.text = "native: rules decide by message size";
    decision.uses_arrivals =
        std::ranges::any_of(table->spans, &Decision::uses_background, &SizeTable::Span::decision);
    decision.table = std::move(table);
  }
  decision.needs_commutativity = depend_on_operation(features.collective);
  return true;
}

bool RuleSelection::depend_on_operation(Collective collective) const {
  return std::ranges::any_of(rules_.all, [collective](const Rule& rule) {
    const bool is_forced = rule.use.kind == Setting::Kind::forced;
    return rule.collective == collective && reduces(collective) &&
           (rule.commutative || (is_forced && rule.use.specification.algorithm->commutative));
  });
}

void RuleSelection::defer_leaders(Decision& decision, Collective collective) {
  auto table = std::make_shared<SizeTable>();
  table->collective = collective;
  const SizeClass classes = is_block_common(collective) ? size_classes : 1;
  for (SizeClass of = 0; of < classes; ++of) table->spans.push_back({largest_of(of), decision});
  decision.table = std::move(table);
}

const Decision& RuleSelection::resolve(SizeTable& table, const BlockOfCall& block, int& error) {
  error = prepare(table, block);
  auto index = static_cast<int>(table.index_of(block.common));
  if (error == MPI_SUCCESS && nodes_.are_open()) {
    error = communicator_.hierarchical().broadcast_selection(
        block.common.has_value() || table.spans.size() == 1, index);
  }
  SizeTable::Span& span = table.spans[static_cast<std::size_t>(index)];
  if (error == MPI_SUCCESS && span.lacks_leaders()) {
    span.decision.level.leaders = best_leaders(table.collective, nodes_.shape(), span.most,
                                               communicator_.agreement().settings.node_machine);
  }
  return span.decision;
}

int RuleSelection::prepare(SizeTable& table, const BlockOfCall& block) {
  if (table.is_ready) return MPI_SUCCESS;
  if (table.spans.front().lacks_leaders()) {
    if (const int error = nodes_.take()) return error;
    if (!is_block_common(table.collective)) {
      Bytes sum = 0;
      if (const int error = sum_on_all(nodes_.comm(), block.own(), sum)) return error;
      table.spans.front().most = mean_of_blocks(table.collective, sum, communicator_.p());
    }
    table.is_ready = true;
    return MPI_SUCCESS;
  }
  for (SizeTable::Span& span : table.spans) {
    if (const int error = open_for(table.collective, span.decision)) return error;
  }
  table.is_ready = true;
  return MPI_SUCCESS;
}

/// Creates what a decision needs; if some rank cannot, makes it native.
int RuleSelection::open_for(Collective collective, Decision& decision) {
  if (decision.is_native()) return MPI_SUCCESS;
  const QuietErrors quiet(communicator_.handle());
  if (decision.level.hierarchical) {
    if (const int error = nodes_.guess()) return error;
    decision.level.leaders = std::min(decision.level.leaders, nodes_.shape().ranks);
  }
  if (decision.level.hierarchical && nodes_.shape().ranks == 1) {
    decision.level = {};
    decision.text += "; runs flat because every node has a single rank";
    if (decision.is_native()) return MPI_SUCCESS;
  }
  bool is_ready = false;
  if (const int error = nodes_.open_for(collective, 0, decision.level, is_ready)) return error;
  if (is_ready) return MPI_SUCCESS;
  decision.text = decision.level.hierarchical
                      ? "native: rules: node memory or its communicators cannot be opened"
                      : "native: rules: no communicator is left for Tutti";
  decision.specification.reset();
  decision.level = {};
  decision.measured = {};
  return MPI_SUCCESS;
}

}  // namespace tutti
