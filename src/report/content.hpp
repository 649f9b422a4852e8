/// The content of a report, and its two formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/summary.hpp"
#include "report/tuning_content.hpp"

namespace tutti {

/// The calls of one collective from one call site with one decision. `sizes` ascend. Times are
/// seconds.
struct ReportedCalls : SiteCalls {
  std::string algorithm = {};
  std::string reason = {};
  std::int64_t explored = 0;  ///< calls that did not run what was selected for them
  double elapsed = 0;         ///< mean over calls and ranks of exit - arrival
  std::string late =
      {};  ///< one sentence about the pattern; empty for a single rank, or without times
  std::string note = {};  ///< why times are unknown, or the number of calls with times; else empty

  /// Means over calls whose ranks have times on one clock.
  [[nodiscard]] double run_mean() const { return run_sum / static_cast<double>(timed); }
  [[nodiscard]] double moving_mean() const { return moving_sum / static_cast<double>(timed); }
};

/// A whole report; calls are sorted by their total time, descending.
struct ReportContent {
  std::string version;  ///< of Tutti
  std::string mpi;
  int ranks = 0;
  std::optional<int> nodes;
  double clock_error = 0;  ///< maximum error of times across nodes; seconds; 0: one clock
  std::string clock;       ///< how clocks of several ranks were aligned; a sentence
  /// The missing part and the process that reports; empty for a full report.
  std::string partial;
  /// How puts of one-sided collectives progress, as measured at their start; empty without any.
  std::string one_sided;
  double seconds_mean = 0;  ///< in all these calls, mean over ranks
  double seconds_max = 0;   ///< in all these calls, maximum over ranks
  /// From the start of the program to MPI_Finalize, mean over ranks; 0: unknown.
  double wall = 0;
  std::vector<OtherCalls> others;    ///< what Tutti passed on, most calls first
  std::vector<std::string> notes;    ///< what is odd about the run, sentences without a full stop
  std::string program;               ///< the path of the program at the process that reports
  std::vector<std::string> modules;  ///< paths of the modules with call sites, at that process
  std::vector<ReportedCalls> calls;
  ReportedTuning tuning;
};

/// The content from a summary of all ranks. `mpi` is the text of MPI_Get_library_version.
[[nodiscard]] ReportContent content_of(const Summary& summary, const std::string& mpi);
/// The content from one process: the calls of which it was the root. `ranks` is the number of
/// processes, 0 if unknown; `who` names this process.
[[nodiscard]] ReportContent partial_content_of(const Summary& summary, const std::string& mpi,
                                               int ranks, const std::string& who);

/// The content where rank 0 made no call that Tutti handles; `others` are its other calls.
[[nodiscard]] ReportContent nothing_content_of(const Summary& summary, const std::string& mpi,
                                               int ranks);

/// A table of at most 80 columns with the site, the algorithm and its reason below each line, and
/// in the last line what was saved. JSON has more.
[[nodiscard]] std::string to_text(const ReportContent& content);
/// One JSON object on one line, format 2 (docs/report.md).
[[nodiscard]] std::string to_json(const ReportContent& content);

}  // namespace tutti
