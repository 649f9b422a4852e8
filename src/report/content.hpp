/// What a report says, and its two forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/summary.hpp"

namespace tutti {

/// Of one collective from one call site under one decision. Times are seconds.
struct ReportedCalls {
  Collective collective = Collective::gather;
  std::string site;                      ///< of the root
  std::vector<std::string> other_sites;  ///< of ranks that called from elsewhere
  std::string algorithm;
  std::string reason;
  std::int64_t calls = 0;
  Bytes bytes = 0;
  double irregularity_mean = 1;  ///< over calls, of largest / mean block
  double irregularity_max = 1;
  double elapsed = 0;  ///< mean over calls and ranks of exit - arrival

  /// What needs the times of all ranks on one clock.
  struct Together {
    double run_mean = 0;  ///< of max exit - min arrival
    double run_max = 0;
    double spread_median = 0;  ///< of max arrival - min arrival
    double spread_max = 0;
    double moving_mean = 0;  ///< of max exit - max arrival
  };
  std::optional<Together> together;

  /// What needs the times of single ranks, and which rank is late.
  struct Split {
    std::int64_t calls = 0;  ///< of which they are known
    Parts mean;              ///< over ranks and calls
    std::string late;        ///< one sentence about the pattern; empty for a rank alone
    int communicators = 0;   ///< that these calls are on
    ArrivalPattern pattern;  ///< of the one whose ranks waited longest
  };
  std::optional<Split> split;
  std::string note;  ///< why times are not known, or of how many calls they are; else empty
};

/// All of it; calls with the most time in them first.
struct ReportContent {
  std::string version;  ///< of Tutti
  std::string mpi;
  int ranks = 0;
  std::optional<int> nodes;
  double clock_error = 0;  ///< of times of several nodes, at most; seconds; 0: one clock
  std::string clock;       ///< how times of several ranks were put on one clock; a sentence
  /// What is missing, and whose view this is; empty for a full report.
  std::string partial;
  /// How puts of one-sided collectives move, as tried at their start; empty where there are none.
  std::string one_sided;
  double seconds_mean = 0;  ///< per rank, in all these calls
  double seconds_max = 0;   ///< of one rank
  std::vector<ReportedCalls> calls;
};

/// What a summary of all ranks says. `mpi` is the version as the MPI library tells it.
[[nodiscard]] ReportContent content_of(const Summary& summary, const std::string& mpi);
/// What one process can say alone: the calls of which it was the root. `ranks` is the number of
/// processes, 0 if that is not known; `who` names this process.
[[nodiscard]] ReportContent partial_content_of(const Summary& summary, const std::string& mpi,
                                               int ranks, const std::string& who);

/// A table of at most 110 columns, with the sites and reasons below each line.
[[nodiscard]] std::string to_text(const ReportContent& content);
/// One object on one line, format 1 (docs/report.md).
[[nodiscard]] std::string to_json(const ReportContent& content);

}  // namespace tutti
