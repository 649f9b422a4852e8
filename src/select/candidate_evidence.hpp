/// What was measured of a candidate, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "select/call_samples.hpp"

namespace tutti {

/// What became of a candidate.
enum class CandidateState : std::uint8_t {
  selected,
  unexplored,   ///< no call ran it
  unable,       ///< it cannot run on some rank
  slower,       ///< its median is not below that of the selected one
  dropped,      ///< its earlier calls showed no gain
  few_calls,    ///< too few calls were measured to select it
  small_gain,   ///< its gain is below 3 %
  unconfirmed,  ///< the rank test does not support its gain twice
  unfair,       ///< some rank would pay for its gain
  uneven,       ///< some of its calls take much longer
};
/// In a word or two, such as "slower".
[[nodiscard]] std::string_view name_of(CandidateState state);
/// Why a candidate of that state is not selected, such as "its gain is below 3 %".
[[nodiscard]] std::string_view explanation_of(CandidateState state);

/// What was measured of a candidate.
struct CandidateEvidence {
  CandidateState state = CandidateState::unexplored;
  int calls = 0;           ///< whose times count; those of the former race if this one has too few
  Nanoseconds median = 0;  ///< if there are any
  std::optional<MedianInterval> interval;
};

/// A measurement by which a case has selected a candidate, in this run or in an earlier one.
struct TuningEvidence {
  int candidate = 0;
  Nanoseconds native = 0;  ///< median time of the MPI's own
  Nanoseconds choice = 0;  ///< median time of the candidate
  int calls = 0;           ///< of the candidate
  std::string date;        ///< of the earlier run; empty: measured in this run
};

/// What it shows, such as "measured 1.5x faster than the MPI's own over 16 calls".
[[nodiscard]] std::string faster_text(const TuningEvidence& evidence);

}  // namespace tutti
