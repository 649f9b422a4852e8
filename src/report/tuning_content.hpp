/// What a report says of measured candidates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/summary.hpp"

namespace tutti {

/// Bounds of what calls saved, in seconds. Each median is in its interval with 95 % or more, so
/// both are with 90 % or more.
struct SavedInterval {
  double least = 0;
  double most = 0;
};

/// One case and the calls that it decided. Times are seconds of each rank of the communicator.
struct ReportedCase {
  struct Site {
    std::string name;
    std::int64_t calls = 0;
  };
  /// What the fastest measured candidate would have saved beyond what ran.
  struct OnTable {
    int candidate = 0;
    double seconds = 0;
    std::string why;  ///< it did not run
  };

  Collective collective = Collective::gather;
  int ranks = 1;
  MeasuredCase measured;
  std::int64_t calls = 0;
  std::vector<Site> sites;  ///< of the root
  double saved = 0;         ///< by calls that ran what was selected; negative: lost
  /// What they saved by the ends of the medians' intervals; none if an interval is unknown.
  std::optional<SavedInterval> interval;
  std::optional<OnTable> on_table;
};

/// All cases, the ones with the most time first.
struct ReportedTuning {
  std::vector<ReportedCase> cases;
  std::int64_t left_out = 0;  ///< communicators and collectives whose cases are not listed
  double saved = 0;           ///< sum over cases, in the mean over all ranks
  double exploring = 0;       ///< agreements included, in the mean over all ranks
};

/// What calls saved, by medians: each call that ran a selected candidate counts with the difference
/// of the MPI's own median and the candidate's. Calls that explored count for exploring, and cases
/// without calls do not count. `ranks`: those that means are taken over; 0: those of one process.
/// O(cases * call sites).
[[nodiscard]] ReportedTuning tuning_of(const Summary& summary, int ranks);

/// A JSON object (docs/report.md).
[[nodiscard]] std::string to_json(const ReportedTuning& tuning, double seconds);

}  // namespace tutti
