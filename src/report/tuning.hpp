/// What was measured of the candidates for the calls of a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The tuning case that selected what a call runs, on the call's communicator.
struct CaseOfCall {
  int id = -1;            ///< MeasuredCase::id; -1: no case selected
  int candidate = 0;      ///< index into MeasuredCase::candidates
  bool explores = false;  ///< the call does not run what is selected
  friend bool operator==(const CaseOfCall&, const CaseOfCall&) = default;
};

/// How many calls of one call site belong to a case.
struct CallsOfCase {
  std::uint64_t communicator = 0;
  CaseOfCall of;
  std::int64_t calls = 0;
};

/// A candidate, of which 0 is the MPI's own. Times are seconds.
struct MeasuredCandidate {
  std::string name;
  std::int64_t calls = 0;  ///< with measured times; 0 if only the median is known
  double median = -1;      ///< negative: not measured
  double least = 0;        ///< the interval of the median
  double most = 0;
  double confidence = 0;  ///< of the interval; 0: there is none
  std::string state;      ///< "selected", or in a word why not
  std::string why;        ///< the same in a sentence
};

/// What decides the calls of one collective and class of message sizes on a communicator.
struct MeasuredCase {
  int id = 0;  ///< unique for the communicator and collective
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;   ///< negative: no bound
  std::string evidence;  ///< where the times come from, such as "this run"
  std::string reason;    ///< of the selection
  int selected = 0;
  std::int64_t explored = 0;  ///< calls noted that did not run what was selected
  double exploring = 0;       ///< seconds lost by them
  std::vector<MeasuredCandidate> candidates;
};

/// The cases of one collective on one communicator. Equal on its ranks, so one rank records it.
struct TuningRecord {
  std::uint64_t communicator = 0;
  Collective collective = Collective::gather;
  int p = 1;
  double exploring = 0;  ///< seconds lost by exploring: calls, agreements, looking at calls
  std::vector<MeasuredCase> cases;
};

/// Records of many communicators in bounded memory.
struct TuningRecords {
  static constexpr std::size_t records_at_most = 256;

  std::vector<TuningRecord> all;
  std::int64_t left_out = 0;      ///< further records
  double left_out_exploring = 0;  ///< their TuningRecord::exploring, times ranks

  void add(TuningRecord record);
  void add(const TuningRecords& more);
};

/// Counts more calls of a case. Further cases than 1,024 are left out. O(cases), O(1) for the
/// latest.
void add_calls(std::vector<CallsOfCase>& all, const CallsOfCase& more);

}  // namespace tutti
