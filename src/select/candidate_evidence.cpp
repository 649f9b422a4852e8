/// The texts of what was measured.
#include "select/candidate_evidence.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

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
  const char* const format = gain < 1 ? "was faster than the MPI's own; %.2fx as fast over %d calls"
                             : gain < 1.1
                                 ? "measured %.2fx faster than the MPI's own over %d calls"
                                 : "measured %.1fx faster than the MPI's own over %d calls";
  char text[96];
  std::snprintf(text, sizeof text, format, gain, evidence.calls);
  return text;
}

}  // namespace tutti
