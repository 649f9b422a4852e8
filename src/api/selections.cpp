/// Decisions that hang on more than a collective: on arrivals that are expected, on blocks.
#include <algorithm>
#include <bit>
#include <utility>

#include "api/communicator.hpp"
#include "api/hierarchical_selection.hpp"
#include "select/arrival_model.hpp"
#include "select/exchanges.hpp"

namespace tutti {

namespace {

/// The power of two that is not above it, or 0.
Bytes floor_of(Bytes bytes) {
  return static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(std::max<Bytes>(bytes, 0))));
}

/// Blocks like the measured ones are taken as those, else as others between two powers of two:
/// ranks whose blocks contradict one another, by an error of the program, may choose differently
/// only far from what is usual.
Bytes class_of(const ExpectedCall& call) {
  const CallKind& usual = call.picture->times.kind;
  const CallKind own = {call.collective, call.root, call.block};
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

bool Communicator::stays_flat(const Decision& decision, Collective collective) {
  if (decision.open != OpenLevel::all) return false;
  stop_passing(collective);
  if (level_decisions_ == nullptr) level_decisions_ = std::make_unique<LevelDecisions>(*this);
  return level_decisions_->stays_flat(collective);
}

const Decision& Communicator::close_level(const Decision& decision, Collective collective,
                                          const BlockOfCall& block, int& error) {
  if (decision.open == OpenLevel::size) {
    const bool is_large = block.common.value_or(0) > most_stand_in_block;
    return is_large ? of_large_blocks_[static_cast<std::size_t>(collective)] : decision;
  }
  if (level_decisions_ == nullptr) level_decisions_ = std::make_unique<LevelDecisions>(*this);
  return level_decisions_->close(decision, collective, block, error);
}

const Decision& Communicator::spare_level(const Decision& asked, int& error) {
  LevelRunner* nodes = levels(error);
  if (nodes == nullptr || nodes->node().nodes().most() > 1) return asked;
  Decision& spared = spared_[&asked];
  if (spared.epoch != asked.epoch) {
    spared = asked;
    spared.level = {};
    spared.open = OpenLevel::none;
    spared.text += ", and runs straight, as each node has one rank";
  }
  return spared;
}

void Communicator::note_refusal(Collective collective, const Decision& decision,
                                const std::string& why) {
  const std::string name =
      decision.specification ? to_text(*decision.specification) : std::string("native");
  note_run(collective, name + ": refused through nodes, because " + why);
}

void Communicator::end_level_call() {
  if (level_decisions_ != nullptr) level_decisions_->end_call();
}

const Decision& Communicator::decide(const ExpectedCall& call) {
  const Bytes block = class_of(call);
  for (const ExpectedDecision& known : expected_) {
    if (known.call.picture == call.picture && known.call.root == call.root &&
        known.call.block == block && known.call.collective == call.collective &&
        known.call.helper == call.helper) {
      return known.decision;
    }
  }
  // Whole before it is kept: it may run out of memory.
  ExpectedDecision made = {call, decision_by_picture(call, block)};
  made.call.block = block;
  ExpectedDecision& kept = expected_[next_expected_];
  next_expected_ = (next_expected_ + 1) % expected_.size();
  kept = std::move(made);
  return kept.decision;
}

Decision Communicator::decision_by_picture(const ExpectedCall& call, Bytes block) {
  const Situation situation = situation_of(call, block);
  // Else the picture is of calls of another kind.
  if (!weighs_arrivals(situation, machine_)) return decide(call.collective);
  Decision made = decision_for(choose({}, situation, machine_));
  // Without the times of this picture: reports count calls by text.
  const std::string why = are_apart(call.picture->arrivals, call.picture->error, machine_)
                              ? "ranks are expected to arrive apart"
                              : "native's time was measured";
  std::string& text = made.text;
  if (made.specification) {
    text = to_text(*made.specification) + ": " + why;
    if (native_spins_) text += ", and native spins on shared cores";
  } else if (situation.forecast->native_is_due) {
    text = "native: its time is measured again";
  } else {
    text = "native: " + why + ", but no gain is modelled";
  }
  return made;
}

/// Where such calls have been measured, of their very block.
Situation Communicator::situation_of(const ExpectedCall& call, Bytes block) const {
  Situation situation = situation_of(call.collective);
  situation.root = call.root;
  situation.block = block + block / 2;
  situation.forecast = Forecast{call.picture->arrivals, call.picture->error, call.helper};
  const KindTimes& times = call.picture->times;
  if (times.kind.collective == call.collective && times.kind.root == call.root &&
      floor_of(times.kind.block) == block) {
    situation.block = times.kind.block;
    situation.forecast->native = times.native;
    situation.forecast->lost = times.lost;
    situation.forecast->native_is_due = times.native_is_due;
  }
  return situation;
}

bool Communicator::weighs(const ArrivalVersion& picture) const {
  return are_apart(picture.arrivals, picture.error, machine_) ||
         (picture.arrivals.size() <= most_forecast_ranks &&
          is_comparable(picture.times.native, machine_));
}

Situation Communicator::situation_of(Collective collective) const {
  Situation situation;
  situation.collective = collective;
  situation.p = p_;
  situation.native_spins = native_spins_;
  situation.mpi = family_;
  situation.reproducible = is_reproducible_;
  return situation;
}

}  // namespace tutti
