/// Derives the content of a report from sums, and counts what measured candidates saved.
#include "report/content.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "core/numbers.hpp"

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
  if (summary.clock_error < 0) return "clocks of nodes could not be compared";
  if (summary.clock_error == 0) return "all ranks read the same clock";
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
  std::ranges::sort(line.sizes, {},
                    [](const SizedCalls& one) { return std::pair(one.p, one.size_class); });
  std::ranges::sort(line.other_sites);
  if (calls.split > 0) line.late = who_is_late(calls.pattern, summary.clock_error);
  line.note = note_of(calls, summary, partial);
  return line;
}

/// The ranks in all calls of a line.
double ranks_in_calls(const ReportedCalls& line) {
  std::int64_t sum = 0;
  for (const SizedCalls& sized : line.sizes) sum += sized.calls * sized.p;
  return static_cast<double>(sum);
}

/// Shares the exact time of all calls among the lines, by the means of their timed calls. One
/// process knows its own time in each line.
void share_seconds(ReportContent& content) {
  if (!content.partial.empty()) {
    for (ReportedCalls& line : content.calls) line.rank_seconds = line.seconds;
    return;
  }
  double whole = 0;
  for (ReportedCalls& line : content.calls) {
    line.rank_seconds = line.elapsed * ranks_in_calls(line);
    whole += line.rank_seconds;
  }
  for (ReportedCalls& line : content.calls) {
    if (whole > 0) line.rank_seconds *= content.seconds_mean / whole;
  }
}

bool is_measured(const MeasuredCandidate& candidate) { return candidate.median >= 0; }

/// A case without calls. What is on the table, with 0 seconds so far, is the fastest measured
/// candidate: that of the lowest number if several are.
ReportedCase case_of(const TuningRecord& record, const MeasuredCase& measured) {
  ReportedCase one = {record.collective, record.p, measured};
  one.interval.emplace();
  const auto& candidates = measured.candidates;
  const auto fastest =
      std::ranges::min_element(candidates, [](const auto& candidate, const auto& other) {
        return is_measured(candidate) && (!is_measured(other) || candidate.median < other.median);
      });
  const int number = static_cast<int>(fastest - candidates.begin());
  one.on_table = {number, 0,
                  number == measured.selected ? "calls before it was selected" : fastest->why};
  return one;
}

/// Adds calls of one site that a case decided.
void add(ReportedCase& one, const std::string& name, const CallsOfCase& calls) {
  const auto& candidates = one.measured.candidates;
  const auto at = static_cast<std::size_t>(calls.of.candidate);
  if (calls.of.candidate < 0 || at >= candidates.size()) return;
  one.calls += calls.calls;
  add(one.sites, {{name, calls.calls}});
  const MeasuredCandidate& native = candidates[0];
  const MeasuredCandidate& ran = candidates[at];
  if (calls.of.explores || !is_measured(ran)) return;
  const auto count = static_cast<double>(calls.calls);
  const auto best = static_cast<std::size_t>(one.on_table->candidate);
  one.on_table->seconds += count * (ran.median - candidates[best].median);
  if (at == 0) return;
  if (native.confidence <= 0 || ran.confidence <= 0) one.interval.reset();
  if (!is_measured(native)) return;
  one.saved += count * (native.median - ran.median);
  if (!one.interval) return;
  one.interval->least += count * (native.least - ran.most);
  one.interval->most += count * (native.most - ran.least);
}

/// Native time, as if all calls of the case had run the MPI's own; else the selected one's.
double weight_of(const ReportedCase& one) {
  const auto& candidates = one.measured.candidates;
  const auto& selected = candidates[static_cast<std::size_t>(one.measured.selected)];
  const double median = std::max({0.0, candidates[0].median, selected.median});
  return median * static_cast<double>(one.calls) * one.ranks;
}

}  // namespace

ReportedTuning tuning_of(const Summary& summary, int ranks) {
  ReportedTuning tuning;
  const auto share = [ranks](int p) { return ranks > 0 ? static_cast<double>(p) / ranks : 1.0; };
  // By communicator, collective and number.
  std::map<std::tuple<std::uint64_t, Collective, int>, ReportedCase> cases;
  PerCollective<double> exploring{};
  for (const TuningRecord& record : summary.tuning.all) {
    exploring[record.collective] += record.exploring * share(record.p);
    for (const MeasuredCase& measured : record.cases) {
      cases.try_emplace({record.communicator, record.collective, measured.id},
                        case_of(record, measured));
    }
  }
  for (const Collective collective : all_collectives) {
    const double seconds = exploring[collective];
    if (seconds > 0) tuning.collectives.push_back({collective, seconds});
    tuning.exploring += seconds;
  }
  tuning.left_out = summary.tuning.left_out;
  if (ranks > 0) tuning.exploring += summary.tuning.left_out_exploring / ranks;
  for (const SiteCalls& calls : summary.calls) {
    for (const CallsOfCase& of_case : calls.cases) {
      if (of_case.of.id < 0) tuning.left_out_calls += of_case.calls;
      const auto found = cases.find({of_case.communicator, calls.collective, of_case.of.id});
      if (found != cases.end()) add(found->second, calls.site, of_case);
    }
  }
  for (auto& [key, one] : cases) {
    if (one.calls == 0) continue;
    if (one.on_table->seconds <= 0) one.on_table.reset();
    tuning.saved += one.saved * share(one.ranks);
    tuning.cases.push_back(std::move(one));
  }
  std::ranges::stable_sort(tuning.cases, std::greater(), weight_of);
  return tuning;
}

ReportContent content_of(const Summary& summary, const std::string& mpi, const std::string& who) {
  const bool partial = !who.empty();
  ReportContent content;
  content.version = TUTTI_VERSION;
  content.mpi = short_version(mpi);
  content.ranks = summary.ranks;
  if (!partial) content.nodes = summary.nodes;
  content.clock_error = summary.clock_error;
  content.clock = partial ? "each rank reads its own clock" : clock_of(summary);
  if (partial) content.partial = "only calls with " + who + " as root";
  content.seconds_mean = summary.seconds_sum / std::max(1, summary.ranks);
  content.seconds_max = summary.seconds_max;
  content.wall = summary.wall_sum / std::max(1, summary.ranks);
  content.others = summary.others;
  std::ranges::stable_sort(content.others, std::greater(), &NamedCalls::calls);
  for (const SiteCalls& calls : summary.calls) {
    content.calls.push_back(reported(calls, summary, partial));
  }
  share_seconds(content);
  std::ranges::stable_sort(content.calls, std::greater(), &ReportedCalls::rank_seconds);
  content.tuning = tuning_of(summary, partial ? 0 : summary.ranks);
  return content;
}

}  // namespace tutti
