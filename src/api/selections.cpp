/// Decisions that depend on more than a collective: on an arrival profile, on blocks.
#include "api/selections.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "api/communicator.hpp"
#include "api/rule_selection.hpp"
#include "select/arrival_model.hpp"

namespace tutti {

namespace {

/// The largest power of 2 that is at most `bytes`, or 0.
Bytes floor_of(Bytes bytes) {
  return static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(std::max<Bytes>(bytes, 0))));
}

/// Takes blocks that resemble the measured ones for those, else classes them by powers of 2. In an
/// erroneous program, ranks may have blocks that contradict one another; they then select
/// differently only far from the usual block.
Bytes class_of(const ExpectedCall& call) {
  const CallSignature& usual = call.profile->times.kind;
  const CallSignature own = {call.collective, call.root, call.block};
  return floor_of(resemble(usual, own) ? usual.block : call.block);
}

}  // namespace

Decision Communicator::decision_for(const Choice& choice) {
  Decision decision;
  decision.specification = choice.specification;
  if (choice.specification) decision.mark = digest_of(*choice.specification);
  decision.text =
      (choice.specification ? to_text(*choice.specification) : "native") + ": " + choice.reason;
  return decision;
}

Selections& Communicator::selections() {
  if (selections_ == nullptr) selections_ = std::make_unique<Selections>(*this);
  return *selections_;
}

bool Communicator::stays_native(const Decision& decision, Collective collective) {
  if (decision.deferred != DeferredLevel::all) return false;
  stop_passing(collective);
  return selections().tuned.stays_native(decision, collective);
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

const Decision& Communicator::decide(const ExpectedCall& call) {
  const Bytes block = class_of(call);
  for (const ExpectedDecision& known : expected_) {
    if (known.call.profile == call.profile && known.call.root == call.root &&
        known.call.block == block && known.call.collective == call.collective &&
        known.call.progress_capability == call.progress_capability) {
      return known.decision;
    }
  }
  // Complete it before keeping it: it may run out of memory.
  ExpectedDecision made = {call, decision_by_profile(call, block)};
  made.call.block = block;
  ExpectedDecision& kept = expected_[next_expected_];
  next_expected_ = (next_expected_ + 1) % expected_.size();
  kept = std::move(made);
  return kept.decision;
}

Decision Communicator::decision_by_profile(const ExpectedCall& call, Bytes block) {
  const Features features = features_of(call, block);
  // Else the profile belongs to other calls.
  if (!weighs_arrivals(features, machine_)) return decide(call.collective);
  Decision made = decision_for(choose({}, features, machine_));
  // No times in the text, because reports count calls by text.
  const std::string why = are_apart(call.profile->arrivals, call.profile->error, machine_)
                              ? " with late ranks"
                              : " by measured times";
  std::string& text = made.text;
  if (made.specification) {
    text = to_text(*made.specification) + ": predicted faster" + why;
  } else if (features.forecast->native_is_due) {
    text = "native: its time is measured again";
  } else {
    text = "native: predicted speedup below 10 %" + why;
  }
  return made;
}

/// If such calls have been measured, uses their very block.
Features Communicator::features_of(const ExpectedCall& call, Bytes block) const {
  Features features = features_of(call.collective);
  features.root = call.root;
  features.block = block + block / 2;
  features.forecast =
      Forecast{call.profile->arrivals, call.profile->error, call.progress_capability};
  const SignatureTimes& times = call.profile->times;
  if (times.kind.collective == call.collective && times.kind.root == call.root &&
      floor_of(times.kind.block) == block) {
    features.block = times.kind.block;
    features.forecast->native = times.native;
    features.forecast->lost = times.lost;
    features.forecast->native_is_due = times.native_is_due;
  }
  return features;
}

bool Communicator::weighs(const ArrivalEpoch& profile) const {
  return are_apart(profile.arrivals, profile.error, machine_) ||
         (profile.arrivals.size() <= max_forecast_ranks &&
          is_comparable(profile.times.native, machine_));
}

Features Communicator::features_of(Collective collective) const {
  Features features;
  features.collective = collective;
  features.p = p_;
  features.mpi = family_;
  features.reproducible = is_reproducible_;
  return features;
}

}  // namespace tutti
