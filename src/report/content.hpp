/// The content of a report, and its two formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/summary.hpp"
#include "report/tuning_content.hpp"

namespace tutti {

/// The calls of one collective from one call site with one decision. Times are seconds.
struct ReportedCalls {
  Collective collective = Collective::gather;
  std::string site;                      ///< of the root
  std::vector<std::string> other_sites;  ///< of ranks with other call sites
  std::string algorithm;
  std::string reason;
  std::int64_t calls = 0;
  std::int64_t explored = 0;  ///< calls that did not run what was selected for them
  Bytes bytes = 0;
  double irregularity_mean = 1;  ///< over calls, of largest / mean block
  double irregularity_max = 1;
  double elapsed = 0;             ///< mean over calls and ranks of exit - arrival
  std::vector<SizedCalls> sizes;  ///< ascending

  /// The values that need the times of all ranks on one clock.
  struct Together {
    double run_mean = 0;  ///< of max exit - min arrival
    double run_max = 0;
    double spread_median = 0;  ///< of max arrival - min arrival
    double spread_max = 0;
    double moving_mean = 0;  ///< of max exit - max arrival
  };
  std::optional<Together> together;

  /// The values that need the times of single ranks, and the late ranks.
  struct Split {
    std::int64_t calls = 0;  ///< number of calls with these times
    Parts mean;              ///< over ranks and calls
    std::string late;        ///< one sentence about the pattern; empty for a single rank
    int communicators = 0;   ///< number of communicators of these calls
    ArrivalPattern pattern;  ///< of the communicator whose ranks waited longest
  };
  std::optional<Split> split;
  std::string note;  ///< why times are unknown, or the number of calls with times; else empty
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
