/// Derives the content of a report from sums.
#include "report/content.hpp"

#include <algorithm>
#include <utility>

#include "report/numbers.hpp"

namespace tutti {

namespace {

/// "MPICH Version:\t4.0.2\nMPICH Release date: ..." is "MPICH 4.0.2", and
/// "Open MPI v4.1.4, package: ..." is "Open MPI v4.1.4".
std::string short_version(const std::string& mpi) {
  std::string text = mpi.substr(0, mpi.find_first_of("\n,"));
  const std::string label = " Version:";
  if (const auto at = text.find(label); at != std::string::npos) {
    const auto number = text.find_first_not_of(" \t", at + label.size());
    text = text.substr(0, at) + (number == std::string::npos ? "" : " " + text.substr(number));
  }
  return text;
}

std::string note_of(const SiteCalls& calls, const Summary& summary, bool partial) {
  if (calls.timed == 0 && calls.measured > 0) {
    return "unknown: clocks of " + std::to_string(summary.nodes) + " nodes are not synchronised";
  }
  if (calls.timed == 0) {
    return partial ? "unknown: only the root's own times were recorded"
                   : "unknown: no call has recorded times of all ranks";
  }
  if (calls.timed == calls.calls) return "";
  return "times of " + std::to_string(calls.timed) + " calls of " + std::to_string(calls.calls);
}

std::string clock_of(const Summary& summary) {
  if (summary.clock_error <= 0) return "all ranks read the same clock";
  return std::string("node clocks compared with rank 0's by the fastest of 30 ping-pongs ") +
         (summary.clock_drift ? "at both ends of the run, drift interpolated"
                              : "at the end of the run, drift unknown") +
         ", error at most " + duration(summary.clock_error);
}

ReportedCalls reported(const SiteCalls& calls, const Summary& summary, bool partial) {
  ReportedCalls line = {calls};
  const auto colon = calls.decision.find(": ");
  line.algorithm = calls.decision.substr(0, colon);
  if (colon != std::string::npos) line.reason = calls.decision.substr(colon + 2);
  for (const CallsOfCase& of_case : calls.cases) {
    if (of_case.of.explores) line.explored += of_case.calls;
  }
  line.elapsed = calls.measured > 0 ? calls.elapsed_sum / static_cast<double>(calls.measured)
                                    : calls.seconds / static_cast<double>(calls.calls);
  std::sort(line.sizes.begin(), line.sizes.end(), [](const SizedCalls& a, const SizedCalls& b) {
    return std::pair(a.p, a.size_class) < std::pair(b.p, b.size_class);
  });
  if (calls.split > 0) line.late = who_is_late(calls.pattern, summary.clock_error);
  line.note = note_of(calls, summary, partial);
  return line;
}

/// Uses elapsed times, because run times of consecutive calls overlap and do not add up.
double seconds_in(const ReportedCalls& line) {
  return static_cast<double>(line.calls) * line.elapsed;
}

ReportContent content_of(const Summary& summary, const std::string& mpi, bool partial) {
  ReportContent content;
  content.version = TUTTI_VERSION;
  content.mpi = short_version(mpi);
  content.ranks = summary.ranks;
  content.nodes = summary.nodes;
  content.clock_error = summary.clock_error;
  content.clock = clock_of(summary);
  content.seconds_mean = summary.seconds_sum / std::max(1, summary.ranks);
  content.seconds_max = summary.seconds_max;
  content.wall = summary.wall_sum / std::max(1, summary.ranks);
  content.others = summary.others;
  std::stable_sort(
      content.others.begin(), content.others.end(),
      [](const OtherCalls& one, const OtherCalls& other) { return one.calls > other.calls; });
  for (const SiteCalls& calls : summary.calls) {
    content.calls.push_back(reported(calls, summary, partial));
  }
  std::stable_sort(content.calls.begin(), content.calls.end(),
                   [](const ReportedCalls& one, const ReportedCalls& other) {
                     return seconds_in(one) > seconds_in(other);
                   });
  return content;
}

}  // namespace

ReportContent content_of(const Summary& summary, const std::string& mpi) {
  ReportContent content = content_of(summary, mpi, false);
  content.tuning = tuning_of(summary, summary.ranks);
  return content;
}

ReportContent partial_content_of(const Summary& summary, const std::string& mpi, int ranks,
                                 const std::string& who) {
  ReportContent content = content_of(summary, mpi, true);
  content.tuning = tuning_of(summary, 0);
  content.ranks = ranks;
  content.nodes.reset();
  content.clock = "each rank reads its own clock";
  content.partial = "only calls with " + who + " as root";
  return content;
}

ReportContent nothing_content_of(const Summary& summary, const std::string& mpi, int ranks) {
  ReportContent content = content_of(summary, mpi, false);
  content.ranks = ranks;
  content.nodes.reset();
  content.notes.push_back("rank 0 made no collective call that Tutti handles");
  return content;
}

}  // namespace tutti
