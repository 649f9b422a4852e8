/// The content of a report, and its two formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/summary.hpp"

namespace tutti {

/// The calls of one collective from one call site with one decision. `sizes` ascend. Times are
/// seconds.
struct ReportedCalls : SiteCalls {
  std::string algorithm = {};
  std::string reason = {};
  std::int64_t explored = 0;  ///< calls that did not run what was selected for them
  double elapsed = 0;         ///< mean over timed calls and ranks of exit - arrival
  /// Of exit - arrival, in the mean over all ranks of the job: these of all lines add up to
  /// ReportContent::seconds_mean. How the lines share it follows from their means. In a partial
  /// report: of the process.
  double rank_seconds = 0;
  /// One sentence about the pattern; empty for a single rank, or without times.
  std::string late = {};
  std::string note = {};  ///< why times are unknown, or the number of calls with times; else empty

  /// Means over calls whose ranks have times on one clock.
  [[nodiscard]] double run_mean() const { return run_sum / static_cast<double>(timed); }
  [[nodiscard]] double moving_mean() const { return moving_sum / static_cast<double>(timed); }
};

/// Bounds of what calls saved, in seconds. Each median is in its interval with 95 % or more, so
/// both are with 90 % or more.
struct SavedInterval {
  double least = 0;
  double most = 0;
};

/// One case and the calls that it decided. Times are seconds of each rank of the communicator.
struct ReportedCase {
  /// What the fastest measured candidate would have saved beyond what ran.
  struct OnTable {
    int candidate = 0;
    double seconds = 0;
    std::string why;  ///< it did not run
  };

  Collective collective = Collective::gather;
  int ranks = 1;
  MeasuredCase measured = {};
  std::int64_t calls = 0;
  std::vector<NamedCalls> sites = {};  ///< of the root
  double saved = 0;                    ///< by calls that ran what was selected; negative: lost
  /// What they saved by the ends of the medians' intervals; none if an interval is unknown.
  std::optional<SavedInterval> interval = {};
  std::optional<OnTable> on_table = {};
};

/// All cases, the ones with the most time first.
struct ReportedTuning {
  struct Exploring {
    Collective collective;
    double seconds;  ///< lost, agreements included, in the mean over all ranks
  };
  std::vector<ReportedCase> cases;
  std::vector<Exploring> collectives;  ///< that explored
  std::int64_t left_out = 0;           ///< communicators and collectives whose cases are not listed
  std::int64_t left_out_calls = 0;     ///< that belong to a case, and are not counted there
  double saved = 0;                    ///< sum over cases, in the mean over all ranks
  double exploring = 0;                ///< agreements included, in the mean over all ranks
};

/// What calls saved, by medians: each call that ran a selected candidate counts with the difference
/// of the MPI's own median and the candidate's. Calls that explored count for exploring, and cases
/// without calls do not count. `ranks`: those that means are taken over; 0: those of one process.
/// O(cases * call sites).
[[nodiscard]] ReportedTuning tuning_of(const Summary& summary, int ranks);

/// A whole report; calls are sorted by their total time, descending.
struct ReportContent {
  std::string version;  ///< of Tutti
  std::string mpi;
  int ranks = 0;
  std::optional<int> nodes;
  double clock_error = 0;  ///< of times across nodes, at most; 0: one clock; negative: unknown
  std::string clock;       ///< how clocks of several ranks were aligned; a sentence
  /// The missing part and the process that reports; empty for a full report.
  std::string partial;
  /// How puts of one-sided collectives progress, as measured at their start; empty without any.
  std::string one_sided;
  double seconds_mean = 0;  ///< in all these calls, mean over ranks
  double seconds_max = 0;   ///< in all these calls, maximum over ranks
  /// From the start of the program to MPI_Finalize, mean over ranks; 0: unknown.
  double wall = 0;
  std::vector<NamedCalls> others;    ///< what Tutti passed on, most calls first
  std::vector<std::string> notes;    ///< what is odd about the run, sentences without a full stop
  std::string program;               ///< the path of the program at the process that reports
  std::vector<std::string> modules;  ///< paths of the modules with call sites, at that process
  std::vector<ReportedCalls> calls;
  ReportedTuning tuning;
};

/// The content from a summary of all ranks, or of one process, which `who` names: the calls of
/// which it was the root. `mpi` is the text of MPI_Get_library_version.
[[nodiscard]] ReportContent content_of(const Summary& summary, const std::string& mpi,
                                       const std::string& who = {});

/// A table of at most 80 columns with the site, the algorithm and its reason below each line, and
/// in the last line what was saved. JSON has more.
[[nodiscard]] std::string to_text(const ReportContent& content);
/// One JSON object on one line, format 2 (docs/report.md).
[[nodiscard]] std::string to_json(const ReportContent& content);

}  // namespace tutti
