/// Writes the report as text.
#include <algorithm>
#include <array>
#include <string_view>

#include "report/content.hpp"
#include "report/numbers.hpp"

namespace tutti {

namespace {

constexpr std::size_t columns = 110;

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// Equally wide for all units.
std::string duration_in_column(double seconds) {
  const std::string text = duration(seconds);
  return text.ends_with(" s") ? text + " " : text;
}

std::string volume(Bytes bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B  ";
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
  return three_digits(value, units[unit]);
}

/// Breaks `text` between words into lines that begin with `indent` blanks. Words longer than a line
/// are cut: names of instantiated templates can be pages long.
std::string wrapped(const std::string& text, std::size_t indent) {
  const std::size_t width = columns - indent;
  std::string lines;
  std::string line;
  const auto finish_line = [&] {
    lines += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (word.size() > width) word = word.substr(0, width - 3) + "...";
    if (!line.empty() && line.size() + 1 + word.size() > width) finish_line();
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  if (!line.empty()) finish_line();
  return lines;
}

std::string line_of(const ReportedCalls& line) {
  const auto& together = line.together;
  const auto time = [&](double ReportedCalls::Together::*value) {
    return right(together ? duration_in_column(*together.*value) : "-  ", 10);
  };
  std::string collective(name_of(line.collective));
  collective.resize(10, ' ');
  return collective + right(std::to_string(line.calls), 9) + right(volume(line.bytes), 11) +
         right(fixed(line.irregularity_mean, 2), 9) + right(fixed(line.irregularity_max, 2), 9) +
         time(&ReportedCalls::Together::run_mean) + time(&ReportedCalls::Together::run_max) +
         time(&ReportedCalls::Together::spread_median) +
         time(&ReportedCalls::Together::spread_max) + time(&ReportedCalls::Together::moving_mean) +
         right(duration_in_column(line.elapsed), 10) + "\n";
}

std::string late_ranks(const ReportedCalls::Split& split) {
  std::string text = "a rank's time: waiting " + duration(split.mean.waiting) + ", held " +
                     duration(split.mean.held) + ", moving " + duration(split.mean.moving);
  if (!split.late.empty()) text += "; " + split.late;
  return text;
}

std::string header_of(const ReportContent& content) {
  std::string ranks = content.ranks == 0 ? ""
                                         : ", " + std::to_string(content.ranks) +
                                               (content.ranks == 1 ? " rank" : " ranks");
  if (content.nodes) {
    ranks += " on " + std::to_string(*content.nodes) + (*content.nodes == 1 ? " node" : " nodes");
  }
  std::string text = "Tutti " + content.version + " with " + content.mpi + ranks + "\n";
  if (!content.partial.empty()) text += wrapped("partial: " + content.partial, 0);
  text += wrapped("times: " + content.clock, 0);
  if (!content.one_sided.empty()) text += wrapped("one-sided: " + content.one_sided, 0);
  text += "seconds in the calls below: " + fixed(content.seconds_mean, 6);
  text += content.partial.empty()
              ? " in the mean over ranks, " + fixed(content.seconds_max, 6) + " at most\n"
              : "\n";
  return text;
}

constexpr std::string_view table_head =
    "                               max/mean block                time              spread"
    "    moving   elapsed\n"
    "collective    calls      bytes     mean      max     mean       max    median       max"
    "      mean      mean\n";

constexpr std::string_view legend =
    "time: first arrival to last exit; spread: first to last arrival; moving: last arrival to last "
    "exit;\n"
    "elapsed: arrival to exit, mean over ranks; max/mean block: largest block to mean block, 1 is "
    "regular\n"
    "a rank's mean time: waiting for ranks that it needs; held behind late ranks or moving data "
    "for them;\n"
    "moving data with no rank missing\n";

}  // namespace

std::string to_text(const ReportContent& content) {
  std::string text = header_of(content);
  if (content.calls.empty()) return text + "no calls\n";
  text += "\n" + std::string(table_head);
  for (const ReportedCalls& line : content.calls) {
    text += line_of(line);
    text += wrapped("at " + line.site, 2);
    for (const std::string& site : line.other_sites) text += wrapped("other ranks at " + site, 2);
    text += wrapped(line.algorithm + (line.reason.empty() ? "" : ": " + line.reason), 2);
    if (line.split) text += wrapped(late_ranks(*line.split), 2);
    const std::string_view what = line.together ? "" : "time, spread, moving ";
    if (!line.note.empty()) text += wrapped(std::string(what) + line.note, 2);
  }
  return text + "\n" + std::string(legend);
}

}  // namespace tutti
