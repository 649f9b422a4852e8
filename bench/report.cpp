/// Writes columns in the style of OSU's benchmarks, CSV and JSON.
#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.hpp"

namespace tutti::bench {

namespace {

constexpr double micro = 1e6;

/// Microseconds with nanoseconds, the clock's resolution, as the last digit.
double in_micro(double seconds) { return std::round(seconds * 1e9) / 1e3; }

Json micro_or_null(std::optional<double> seconds) {
  return seconds ? Json(in_micro(*seconds)) : Json();
}

/// Microseconds with `digits` digits; `without` if there are none.
std::string micro_text(std::optional<double> seconds, int digits, const char* without) {
  return seconds ? fmt::format("{:.{}f}", *seconds * micro, digits) : without;
}

/// The algorithm in a text such as "ordered_tree: modelled 3.1 us, ..".
std::string first_word(const std::string& ran) {
  return ran.empty() ? "-" : ran.substr(0, ran.find(": "));
}

Json json_of_ratio(const Ratio& ratio) {
  return json_object("median", ratio.value, "low", ratio.interval.low, "high", ratio.interval.high,
                     "verdict", verdict(ratio));
}

Json json_of_line(const Line& line) {
  const Summary summary = summarize(line.samples);
  Json json = json_object(
      "name", line.name, "ran", line.ran, "mean_us", in_micro(summary.mean), "min_us",
      in_micro(summary.least), "median_us", in_micro(summary.median), "p90_us",
      in_micro(summary.p90), "p99_us", in_micro(summary.p99), "max_us", in_micro(summary.most),
      "arrival_spread_median_us", micro_or_null(line.spread), "elapsed_mean_us",
      micro_or_null(line.elapsed), "ratio_to_native",
      line.to_native ? json_of_ratio(*line.to_native) : Json(), "ratio_to_bound", line.to_bound);
  if (line.resident) {
    add_members(json, "held_bytes_of_a_rank", std::round(line.resident->held),
                "kept_bytes_of_a_rank", std::round(line.resident->kept));
  }
  if (line.predicted) {
    add_members(json, "logp_us", in_micro(line.predicted->logp), "loggp_us",
                in_micro(line.predicted->loggp));
  }
  add_members(json, "samples_us", json_list(line.samples, in_micro));
  if (!line.after_last_arrival.empty()) {
    add_members(json, "after_last_arrival_us", json_list(line.after_last_arrival, in_micro));
  }
  return json;
}

Json json_of_row(const Row& row) {
  return json_object("collective", row.collective, "distribution", row.distribution, "block",
                     row.block, "element_bytes", row.width, "root", row.root, "total_elements",
                     row.total, "largest_elements", row.largest, "bytes", row.total * row.width,
                     "bound_together_us", micro_or_null(row.bound), "algorithms",
                     json_list(row.lines, json_of_line));
}

Json json_of_guideline(const Guideline& guideline) {
  return json_object("guideline", guideline.number, "library", guideline.library, "left",
                     guideline.left, "right", guideline.right, "equal_blocks_only",
                     guideline.equal_blocks_only);
}

std::string ratio_columns(const Line& line) {
  if (!line.to_native) return fmt::format("{:>8}{:>16}{:>8}", "-", "-", "-");
  const Ratio& ratio = *line.to_native;
  return fmt::format("{:>8.3f}{:>16}{:>8}", ratio.value,
                     fmt::format("{:.3f}..{:.3f}", ratio.interval.low, ratio.interval.high),
                     verdict(ratio));
}

std::string memory_columns(const Line& line) {
  if (!line.resident) return "";
  return fmt::format("{:>16.0f}{:>16.0f}", line.resident->held / 1024, line.resident->kept / 1024);
}

bool has_prediction(const Row& row) {
  return std::any_of(row.lines.begin(), row.lines.end(),
                     [](const Line& line) { return line.predicted.has_value(); });
}

std::string prediction_columns(const Row& row, const Line& line) {
  if (!has_prediction(row)) return "";
  if (!line.predicted) return fmt::format("{:>11}{:>11}", "-", "-");
  return fmt::format("{:>11.2f}{:>11.2f}", line.predicted->logp * micro,
                     line.predicted->loggp * micro);
}

}  // namespace

std::string verdict(const Ratio& to_native) {
  if (!std::isfinite(to_native.interval.high)) return "unknown";
  if (to_native.below_one()) return "faster";
  return to_native.above_one() ? "slower" : "even";
}

void Report::note(const std::string& key, const std::string& value) {
  say("# " + key + ": " + value);
  const auto known = std::ranges::find(metadata_, key, &Metadata::value_type::first);
  if (known == metadata_.end()) {
    metadata_.emplace_back(key, value);
  } else {
    known->second = value;
  }
}

Result<std::shared_ptr<Report>> Report::open(const Options& options, Metadata metadata) {
  auto report = std::make_shared<Report>();
  report->quiet_ = options.quiet;
  report->metadata_ = std::move(metadata);
  Result<OutputFile> json = OutputFile::open("--json", options.json);
  if (!json) return Error{json.error()};
  report->json_ = std::move(*json);
  Result<OutputFile> csv = OutputFile::open("--csv", options.csv);
  if (!csv) return Error{csv.error()};
  report->csv_ = std::move(*csv);
  std::string head;
  for (const auto& [key, value] : report->metadata_) {
    report->say("# " + key + ": " + value);
    head += fmt::format("# {}: {}\n", key, value);
  }
  report->add_csv(
      head +
      "collective,distribution,block,element_bytes,root,bytes,algorithm,ran,mean_us,min_us,"
      "median_us,p90_us,p99_us,ratio,ratio_low,ratio_high,verdict,to_bound,elapsed_us,spread_"
      "us\n");
  return report;
}

void Report::say(const std::string& text) const {
  if (quiet_) return;
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Report::add(Row row, bool print) {
  if (print && !quiet_) print_columns(row);
  add_csv(csv_of(row));
  rows_.push_back(std::move(row));
  csv_.keep(csv_text_);
  if (json_.keeps_part()) json_.keep(json_text());
}

void Report::add(std::vector<Guideline> guidelines) { guidelines_ = std::move(guidelines); }

void Report::print_columns(const Row& row) {
  std::size_t widest = 12;
  for (const Line& line : row.lines) widest = std::max(widest, line.name.size() + 2);
  const std::string section = row.collective + ", " + row.distribution;
  if (section != section_) {
    section_ = section;
    say(fmt::format("\n# {}, root {}", section, row.root));
    say(fmt::format(
        "{:>9}{:>11}  {:<{}}{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}{:>8}{:>16}{:>8}{:>8}{}  {}",
        "# block", "bytes", "algorithm", widest, "avg(us)", "min(us)", "median(us)", "p90(us)",
        "p99(us)", "elapsed(us)", "/native", "95%", "", "/bound",
        (row.lines.front().resident ? fmt::format("{:>16}{:>16}", "held KiB a rank", "kept") : "") +
            (has_prediction(row) ? fmt::format("{:>11}{:>11}", "LogP(us)", "LogGP(us)") : ""),
        "ran"));
  }
  for (const Line& line : row.lines) {
    const Summary summary = summarize(line.samples);
    say(fmt::format(
        "{:>9}{:>11}  {:<{}}{:>11.2f}{:>11.2f}{:>11.2f}{:>11.2f}{:>11.2f}{:>12}{}{:>8}{}  {}",
        row.block, row.total * row.width, line.name, widest, summary.mean * micro,
        summary.least * micro, summary.median * micro, summary.p90 * micro, summary.p99 * micro,
        micro_text(line.elapsed, 2, "-"), ratio_columns(line),
        line.to_bound ? fmt::format("{:.2f}", *line.to_bound) : "-",
        memory_columns(line) + prediction_columns(row, line), first_word(line.ran)));
  }
}

void Report::add_csv(const std::string& text) {
  if (!csv_.add(text)) csv_text_ += text;
}

std::string Report::csv_of(const Row& row) {
  std::string text;
  const auto quoted = [](const std::string& word) { return "\"" + word + "\""; };
  for (const Line& line : row.lines) {
    const Summary summary = summarize(line.samples);
    text += fmt::format("{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}",
                        row.collective, row.distribution, row.block, row.width, row.root,
                        row.total * row.width, quoted(line.name), quoted(first_word(line.ran)),
                        summary.mean * micro, summary.least * micro, summary.median * micro,
                        summary.p90 * micro, summary.p99 * micro);
    if (line.to_native) {
      const Ratio& ratio = *line.to_native;
      text += fmt::format(",{:.4f},{:.4f},{:.4f},{}", ratio.value, ratio.interval.low,
                          ratio.interval.high, verdict(ratio));
    } else {
      text += ",,,,";
    }
    text += fmt::format(",{},{},{}\n",
                        line.to_bound ? fmt::format("{:.3f}", *line.to_bound) : std::string(),
                        micro_text(line.elapsed, 3, ""), micro_text(line.spread, 3, ""));
  }
  return text;
}

std::string Report::json_text() const {
  Json metadata = json_object();
  for (const auto& [key, value] : metadata_) add_members(metadata, key, value);
  Json json = json_object("schema", "tutti-bench/1", "metadata", metadata, "rows",
                          json_list(rows_, json_of_row));
  if (!guidelines_.empty()) {
    add_members(json, "guidelines", json_list(guidelines_, json_of_guideline));
  }
  return json.text + "\n";
}

std::string Report::finish() {
  const std::string csv = csv_.finish(csv_text_);
  const std::string json = json_.finish(json_text());
  return json.empty() ? csv : json;
}

}  // namespace tutti::bench
