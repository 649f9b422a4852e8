/// The texts of what was measured.
#include "select/candidate_evidence.hpp"

#include <algorithm>
#include <iterator>

#include "core/numbers.hpp"

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

}  // namespace

std::string_view name_of(CandidateState state) { return states[static_cast<int>(state)][0]; }

std::string_view explanation_of(CandidateState state) { return states[static_cast<int>(state)][1]; }

/// The latest calls of a candidate, once faster, may take longer than the MPI's own did before.
std::string faster_text(const TuningEvidence& evidence) {
  const auto choice = static_cast<double>(std::max<Nanoseconds>(1, evidence.choice));
  const double gain = static_cast<double>(evidence.native) / choice;
  const std::string over = " over " + std::to_string(evidence.calls) + " calls";
  if (gain < 1) return "was faster than the MPI's own; " + fixed(gain, 2) + "x as fast" + over;
  return "measured " + fixed(gain, gain < 1.1 ? 2 : 1) + "x faster than the MPI's own" + over;
}

}  // namespace tutti
