/// Writes measured candidates as text.
#include <map>

#include "report/columns.hpp"
#include "report/tuning_content.hpp"

namespace tutti {

namespace {

constexpr std::size_t cases_shown = 12;
constexpr std::size_t sites_shown = 4;

std::string bytes_of(const MeasuredCase& measured) {
  const std::string least = std::to_string(measured.min_bytes);
  if (measured.max_bytes < 0) return measured.min_bytes == 0 ? "any size" : least + " bytes on";
  const std::string most = std::to_string(measured.max_bytes) + " bytes";
  return measured.min_bytes == measured.max_bytes ? most : least + " to " + most;
}

std::string name_of(const ReportedCase& one, int candidate) {
  return one.measured.candidates[static_cast<std::size_t>(candidate)].name;
}

/// "allreduce, 65 to 128 bytes, 8 ranks: ring: why".
std::string head_of(const ReportedCase& one) {
  return std::string(name_of(one.collective)) + ", " + bytes_of(one.measured) + ", " +
         std::to_string(one.ranks) + " ranks: " + name_of(one, one.measured.selected) + ": " +
         one.measured.reason;
}

std::string interval_of(const MeasuredCandidate& candidate) {
  if (candidate.confidence == 0) return "-";
  return duration(candidate.least) + " to " + duration(candidate.most);
}

std::string row_of(const MeasuredCandidate& candidate) {
  const std::string name = wrapped(candidate.name, 2);
  constexpr std::size_t name_columns = 33;
  const bool is_long = name.size() > name_columns;
  const std::string calls = candidate.calls > 0 ? std::to_string(candidate.calls) : "-";
  return (is_long ? name + std::string(name_columns, ' ')
                  : left(name.substr(0, name.size() - 1), name_columns)) +
         right(duration_in_column(candidate.median), 8) + right(interval_of(candidate), 20) +
         right(calls, 6) + "  " + candidate.state + "\n";
}

std::string table_of(const MeasuredCase& measured) {
  std::string text = "  candidate                        median            interval calls\n";
  std::map<std::string, std::string> others;  // by state
  for (const MeasuredCandidate& candidate : measured.candidates) {
    if (candidate.median >= 0) {
      text += row_of(candidate);
    } else {
      std::string& names = others[candidate.state];
      names += (names.empty() ? "" : ", ") + candidate.name;
    }
  }
  for (const auto& [state, names] : others) {
    text += wrapped((state.empty() ? "not measured" : state) + ": " + names, 2);
  }
  return text;
}

std::string sites_of(const ReportedCase& one) {
  std::string text;
  for (std::size_t i = 0; i < std::min(sites_shown, one.sites.size()); ++i) {
    const auto& site = one.sites[i];
    text += wrapped("at " + site.name + ": " + std::to_string(site.calls) +
                        (site.calls == 1 ? " call" : " calls"),
                    2);
  }
  const std::size_t left = one.sites.size() - std::min(sites_shown, one.sites.size());
  return left == 0 ? text : text + "  and at " + std::to_string(left) + " more sites\n";
}

/// "saved 3.00 ms", "lost 3.00 ms".
std::string gain_of(double saved) {
  return saved < 0 ? "lost " + duration(-saved) : "saved " + duration(saved);
}

std::string costs_of(const ReportedCase& one) {
  std::string text = gain_of(one.saved) + " against native";
  if (one.interval && one.saved != 0) {
    text += " (from " + gain_of(one.interval->least) + " to " + gain_of(one.interval->most) + ")";
  }
  if (one.measured.explored > 0) {
    text += ", exploring cost " + duration(one.measured.exploring) + " in " +
            std::to_string(one.measured.explored) +
            (one.measured.explored == 1 ? " call" : " calls");
  }
  if (!one.on_table) return text;
  return text + "; on the table: " + duration(one.on_table->seconds) + " with " +
         name_of(one, one.on_table->candidate) + ": " + one.on_table->why;
}

constexpr std::string_view tuning_legend =
    "median: of at most the latest 16 calls noted, after the last arrival; rooted\n"
    "and irregular: elapsed, mean over ranks; interval: holds the median with 95 % or\n"
    "more, by order statistics; saved: calls times the difference of medians, in\n"
    "brackets by the ends of their intervals; on the table: what the fastest measured\n"
    "candidate would have saved beyond that\n";

}  // namespace

std::string to_text(const ReportedTuning& tuning) {
  if (tuning.cases.empty()) return "";
  std::string text = "\ncandidates, times of each rank\n";
  const std::size_t shown = std::min(cases_shown, tuning.cases.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportedCase& one = tuning.cases[i];
    text += wrapped(head_of(one), 0) + sites_of(one);
    text += wrapped("evidence: " + one.measured.evidence, 2);
    text += table_of(one.measured) + wrapped(costs_of(one), 2);
  }
  const auto left = static_cast<std::int64_t>(tuning.cases.size() - shown);
  if (left > 0) text += "and " + std::to_string(left) + " more cases, listed in JSON\n";
  if (tuning.left_out > 0) {
    text += "not kept: cases of " + std::to_string(tuning.left_out) + " more communicators\n";
  }
  return text + "\n" + std::string(tuning_legend);
}

std::string account_of(const ReportedTuning& tuning, double seconds) {
  return "time in collectives " + duration(seconds) + ", " + gain_of(tuning.saved) +
         ", spent exploring " + duration(tuning.exploring);
}

}  // namespace tutti
