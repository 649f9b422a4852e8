/// Evidence of a tuning case: what it reports, and takes over from an earlier run.
#include <algorithm>
#include <iterator>

#include "core/numbers.hpp"
#include "select/tuning_case.hpp"

namespace tutti {

namespace {

/// In the sequence of CandidateState: name and explanation.
constexpr std::string_view states[][2] = {
    {"selected", "it is selected"},
    {"not explored", "no call has explored it"},
    {"cannot run", "it cannot run on some rank"},
    {"slower", "its median is not below that of the selected one"},
    {"dropped", "its earlier calls showed no gain"},
    {"few calls", "fewer than 4 calls were measured"},
    {"small gain", "its gain is below 3 %"},
    {"unconfirmed", "the rank test does not support its gain twice"},
    {"unfair", "in the mean over the ranks it gains too little, or some rank would pay for it"},
    {"uneven", "some of its calls take much longer"},
};

static_assert(std::size(states) == static_cast<std::size_t>(CandidateState::uneven) + 1);

/// What it shows. The latest calls of a candidate, once faster, may take longer than the MPI's own
/// did before.
std::string faster_text(const TuningEvidence& evidence) {
  const auto choice = static_cast<double>(std::max<Nanoseconds>(1, evidence.choice));
  const double gain = static_cast<double>(evidence.native) / choice;
  const std::string over = " over " + std::to_string(evidence.calls) + " calls";
  if (gain < 1) return "was faster than the MPI's own; " + fixed(gain, 2) + "x as fast" + over;
  return "measured " + fixed(gain, gain < 1.1 ? 2 : 1) + "x faster than the MPI's own" + over;
}

}  // namespace

std::string_view name_of(CandidateState state) { return states[static_cast<int>(state)][0]; }

std::string_view explanation_of(CandidateState state) { return states[static_cast<int>(state)][1]; }

void TuningCase::start_from(const TuningEvidence& kept) {
  candidates_.resize(std::max(candidates_.size(), static_cast<std::size_t>(kept.candidate) + 1));
  selected_ = kept.candidate;
  is_settled_ = is_kept_ = true;
  native_median_ = kept.native;
  native_of_sizes_.start_from(kept.native);
  settled_median_ = kept.choice;
  reopens_at_ = min_calls_settled;
  evidence_ = kept;
  const std::string what = selected_ == 0 ? "nothing was measured to be faster" : faster_text(kept);
  reason_ = what + " (kept, " + kept.date + ")";
}

/// By the samples of the selected candidate, where it has any.
void TuningCase::note_evidence() {
  const CallSamples& samples = at(selected_).samples;
  if (samples.count() == 0) return;
  evidence_ = {selected_,
               native_median_,
               samples.median(),
               samples.count(),
               "",
               median_interval(at(0).samples.latest(CallSamples::few)),
               median_interval(samples)};
}

void TuningCase::state_reason() {
  const auto measured =
      std::ranges::count_if(candidates_, [](const State& state) { return state.calls > 0; });
  if (selected_ != 0 && evidence_) {
    reason_ = faster_text(*evidence_);
  } else if (selected_ == 0 && is_settled_) {
    reason_ = "fastest of " + std::to_string(measured) + " candidates measured";
  } else {
    reason_ = "exploring";
  }
}

const CallSamples& TuningCase::known(const State& state) {
  const bool is_enough = state.samples.count() >= std::min(min_calls, state.former.count());
  return is_enough ? state.samples : state.former;
}

CandidateState TuningCase::state_of(int candidate) const {
  const State& state = at(candidate);
  if (candidate == selected_) return CandidateState::selected;
  if (state.is_excluded) return CandidateState::unable;
  const CallSamples& own = known(state);
  const CallSamples& best = known(at(selected_));
  if (own.count() == 0) {
    return state.calls > 0 ? CandidateState::few_calls : CandidateState::unexplored;
  }
  if (best.count() > 0 && own.median() >= best.median()) return CandidateState::slower;
  if (state.rejected) return *state.rejected;
  if (state.is_dropped) return CandidateState::dropped;
  if (own.count() < min_calls || best.count() == 0) return CandidateState::few_calls;
  const bool is_small = !exceeds(best.median(), min_gain, own.median());
  return is_small ? CandidateState::small_gain : CandidateState::unconfirmed;
}

std::vector<CandidateEvidence> TuningCase::measurements() const {
  std::vector<CandidateEvidence> all;
  for (int candidate = 0; candidate < candidates(); ++candidate) {
    const CallSamples& samples = known(at(candidate));
    const int count = samples.count();
    all.push_back(
        {state_of(candidate), count, count > 0 ? samples.median() : 0, median_interval(samples)});
  }
  return all;
}

}  // namespace tutti
