/// Broadcasts rules, and resolves calls by them.
#include "api/rule_selection.hpp"

#include <algorithm>
#include <utility>

#include "api/call.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/mpi/quirks.hpp"

namespace tutti {

namespace {

bool is_native(const Decision& decision) {
  return !decision.specification && !decision.level.hierarchical;
}

void make_native(Decision& decision, const std::string& why) {
  decision.specification.reset();
  decision.level = {};
  decision.measured = {};
  decision.text = "native: rules: " + why;
}

}  // namespace

std::size_t RuleTable::index_of(const std::optional<Bytes>& block) {
  if (block) latest = *block;
  const auto found = std::find_if(spans.begin(), spans.end(),
                                  [this](const Span& span) { return latest <= span.most; });
  return static_cast<std::size_t>(found - spans.begin());
}

int RuleSelection::open(Communicator& communicator, HierarchicalNodes& nodes,
                        const std::string& text, std::unique_ptr<RuleSelection>& made) {
  if (text.empty()) return MPI_SUCCESS;
  Result<Rules> rules = rules_from_text(text, "");
  if (!rules) return MPI_ERR_INTERN;
  made.reset(new RuleSelection(communicator, nodes));
  made->rules_ = std::move(*rules);
  made->mpi_ = mpi_version(library_version());
  const auto& all = made->rules_.all;
  if (std::none_of(all.begin(), all.end(), [](const Rule& r) { return r.needs_nodes(); })) {
    return MPI_SUCCESS;
  }
  const QuietErrors quiet(communicator.handle());
  if (const int error = nodes.guess()) return error;
  made->node_count_ = nodes.count();
  made->ranks_per_node_ = nodes.max_ranks();
  return MPI_SUCCESS;
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
  const RuleFeatures keys = {features.collective,
                             features.p,
                             node_count_,
                             ranks_per_node_,
                             features.commutative,
                             is_block_common(features.collective),
                             mpi_};
  const std::vector<RuleSpan> spans = spans_of(rules_, keys);
  if (spans.size() == 1 && spans.front().rule == nullptr) return false;
  auto table = std::make_shared<RuleTable>();
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
  if (spans.size() == 1 && is_native(table->spans[0].decision)) {
    decision = table->spans[0].decision;
  } else {
    decision.text = "native: rules decide by message size";
    decision.deferred = DeferredLevel::rules;
    const auto& all = table->spans;
    decision.uses_arrivals = std::any_of(all.begin(), all.end(), [](const RuleTable::Span& span) {
      return goes_by_arrivals(span.decision);
    });
    decision.table = std::move(table);
  }
  decision.needs_commutativity = depend_on_operation(features.collective);
  return true;
}

bool RuleSelection::depend_on_operation(Collective collective) const {
  return std::any_of(rules_.all.begin(), rules_.all.end(), [collective](const Rule& rule) {
    const bool is_forced = rule.use.kind == Setting::Kind::forced;
    return rule.collective == collective && reduces(collective) &&
           (rule.commutative || (is_forced && rule.use.specification.algorithm->commutative));
  });
}

const Decision& RuleSelection::resolve(RuleTable& table, std::optional<Bytes> block, int& error) {
  error = prepare(table);
  auto index = static_cast<int>(table.index_of(block));
  if (error == MPI_SUCCESS && nodes_.are_open()) {
    error = communicator_.hierarchical().broadcast_selection(
        block.has_value() || table.spans.size() == 1, index);
  }
  RuleTable::Span& span = table.spans[static_cast<std::size_t>(index)];
  // All calls count once nodes are open; whoever runs a hierarchical one counts it.
  if (error == MPI_SUCCESS && nodes_.are_open() && !span.decision.level.hierarchical) {
    communicator_.hierarchical().skip();
  }
  return span.decision;
}

int RuleSelection::prepare(RuleTable& table) {
  if (table.is_ready) return MPI_SUCCESS;
  for (RuleTable::Span& span : table.spans) {
    Decision& decision = span.decision;
    int error = MPI_SUCCESS;
    if (decision.level.hierarchical) error = prepare_hierarchical(table.collective, decision);
    const bool is_flat = !decision.level.hierarchical && decision.specification;
    if (error == MPI_SUCCESS && is_flat) error = prepare_flat(decision);
    if (error != MPI_SUCCESS) return error;
  }
  table.is_ready = true;
  return MPI_SUCCESS;
}

int RuleSelection::prepare_flat(Decision& decision) {
  bool is_ready = false;
  if (const int error = nodes_.open_flat(is_ready)) return error;
  if (!is_ready) make_native(decision, "no communicator is left for Tutti");
  return MPI_SUCCESS;
}

int RuleSelection::prepare_hierarchical(Collective collective, Decision& decision) {
  const QuietErrors quiet(communicator_.handle());
  if (const int error = nodes_.guess()) return error;
  if (nodes_.max_ranks() == 1) {
    decision.level = {};
    decision.text += "; runs flat because every node has a single rank";
    return MPI_SUCCESS;
  }
  int& leaders = decision.level.leaders;
  leaders = std::min(leaders, nodes_.max_ranks());
  bool is_ready = false;
  if (const int error = nodes_.open_for(collective, 0, leaders, is_ready)) return error;
  if (!is_ready) make_native(decision, "node memory or its communicators cannot be opened");
  return MPI_SUCCESS;
}

}  // namespace tutti
