/// Decisions that depend on more than a collective.
#include "api/selections.hpp"

#include <new>
#include <utility>

#include "api/communicator.hpp"
#include "api/rule_selection.hpp"

namespace tutti {

Decision Communicator::decision_for(const Choice& choice) {
  Decision decision;
  decision.specification = choice.specification;
  decision.text =
      (choice.specification ? to_text(*choice.specification) : "native") + ": " + choice.reason;
  return decision;
}

Selections& Communicator::selections() {
  if (selections_ == nullptr) selections_ = std::make_unique<Selections>(*this);
  return *selections_;
}

bool Communicator::stays_native(const Decision& decision, Collective collective,
                                const Profile& profile) {
  if (decision.deferred != DeferredLevel::all) return false;
  stop_passing(collective);
  return selections().tuned.stays_native(decision, collective, profile);
}

const Decision& Communicator::resolve_level(const Decision& decision, Collective collective,
                                            const BlockOfCall& block, int& error) {
  if (decision.deferred == DeferredLevel::leaders) {
    return selections().leaders.resolve(decision, collective, block, error);
  }
  return selections().tuned.resolve(decision, collective, block, error);
}

const Decision& Communicator::resolve_by_rules(const Decision& decision, std::optional<Bytes> block,
                                               int& error) {
  return rules_->resolve(*decision.table, block, error);
}

const Decision& Communicator::hierarchical_fallback(const Decision& asked, int& error) {
  HierarchicalRunner* nodes = nullptr;
  error = open_hierarchical(nodes);
  if (nodes == nullptr || nodes->node().nodes().most() > 1) return asked;
  Decision& fallback = fallbacks_[asked.slot];
  if (fallback.epoch != asked.epoch) {
    fallback = asked;
    fallback.level = {};
    fallback.deferred = DeferredLevel::none;
    fallback.text += "; runs flat because every node has a single rank";
  }
  return fallback;
}

void Communicator::note_refusal(Collective collective, const Decision& decision,
                                const std::string& why) {
  const std::string name = decision.specification && !decision.is_by_rule
                               ? to_text(*decision.specification)
                               : std::string("native");
  note_algorithm(collective, name + ": runs flat because " + why);
}

void Communicator::end_tuned_call() {
  if (selections_ != nullptr) selections_->tuned.end_call();
}

void Communicator::record_candidates() {
  if (!is_reported_ || rank_ != 0 || std::exchange(has_recorded_candidates_, true)) return;
  try {
    if (selections_ != nullptr) selections_->tuned.record_candidates();
    if (rules_ != nullptr) rules_->record_candidates();
  } catch (const std::bad_alloc&) {
    // They are only missing in the report.
  }
}

Features Communicator::features_of(Collective collective) const {
  Features features;
  features.collective = collective;
  features.p = p_;
  features.reproducible = is_reproducible_;
  return features;
}

}  // namespace tutti
