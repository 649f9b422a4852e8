/// Writes the report as text.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/numbers.hpp"
#include "core/words.hpp"
#include "report/content.hpp"

namespace tutti {

namespace {

constexpr std::size_t columns = 80;

/// `text` at the right end of `width` columns; longer texts are kept.
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// "1 rank", "2 ranks".
std::string counted(std::int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Equally wide for all units.
std::string duration_in_column(double seconds) {
  const std::string text = duration(seconds);
  return text.ends_with(" s") ? text + " " : text;
}

/// Breaks `text` between words into lines that begin with `indent` blanks. Words longer than a line
/// are cut: names of instantiated templates can be pages long. O(length).
std::string wrapped(const std::string& text, std::size_t indent = 0) {
  const std::size_t width = columns - indent;
  std::string lines;
  std::string line;
  const auto finish_line = [&] {
    lines += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (const std::string_view part : split(text, " ")) {
    if (part.empty()) continue;
    std::string word(part);
    if (word.size() > width) word = word.substr(0, width - 3) + "...";
    if (!line.empty() && line.size() + 1 + word.size() > width) finish_line();
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) finish_line();
  return lines;
}

std::string volume(Bytes bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B  ";
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
  return three_digits(value, units[unit]);
}

constexpr std::string_view table_head =
    "collective                calls      bytes     time   spread   moving  elapsed\n";

std::string line_of(const ReportedCalls& line) {
  const auto time = [&](double seconds) {
    return right(line.timed > 0 ? duration_in_column(seconds) : "-  ", 9);
  };
  const double spread = line.timed > 0 ? line.spread.median() : 0;
  std::string name(name_of(line.collective));
  name.resize(21, ' ');
  return name + right(std::to_string(line.calls), 10) + right(volume(line.bytes), 11) +
         time(line.run_mean()) + time(spread) + time(line.moving_mean()) +
         right(duration_in_column(line.elapsed), 9) + "\n";
}

std::string percent(double part, double whole) { return fixed(100 * part / whole, 1) + " %"; }

std::string others_of(const std::vector<NamedCalls>& others) {
  std::string text = "not handled:";
  for (const NamedCalls& other : others) {
    text +=
        (&other == &others.front() ? " " : ", ") + std::to_string(other.calls) + " " + other.name;
  }
  return text;
}

std::string header_of(const ReportContent& content) {
  std::string ranks = content.ranks == 0 ? "" : ", " + counted(content.ranks, "rank");
  if (content.nodes) ranks += " on " + counted(*content.nodes, "node");
  std::string text = wrapped("Tutti " + content.version + " with " + content.mpi + ranks);
  if (!content.partial.empty()) text += wrapped("partial: " + content.partial);
  text += wrapped("times: " + content.clock);
  if (!content.one_sided.empty()) text += wrapped("one-sided: " + content.one_sided);
  const std::string all = content.partial.empty() ? " in the mean over ranks, " +
                                                        fixed(content.seconds_max, 6) + " at most"
                                                  : "";
  text += wrapped("seconds in the calls below: " + fixed(content.seconds_mean, 6) + all);
  if (content.wall > 0) {
    text += wrapped(percent(content.seconds_mean, content.wall) + " of the " +
                    fixed(content.wall, 6) + " seconds from the start to MPI_Finalize");
  }
  if (!content.others.empty()) text += wrapped(others_of(content.others));
  for (const std::string& note : content.notes) text += wrapped("note: " + note);
  return text;
}

constexpr std::string_view legend =
    "time: first arrival to last exit, mean; spread: first to last arrival, median;\n"
    "moving: last arrival to last exit, mean; elapsed: arrival to exit, mean over\n"
    "ranks. From TUTTI_REPORT=name.json `tutti report` shows functions, source lines,\n"
    "candidates and late ranks.\n";

std::string entry_of(const ReportedCalls& line, double wall) {
  const std::string share =
      wall <= 0 ? "" : ": " + percent(line.rank_seconds, wall) + " of the run";
  std::string text = line_of(line) + wrapped("at " + line.site + share, 2);
  text += wrapped(line.algorithm + (line.reason.empty() ? "" : ": " + line.reason), 2);
  if (!line.late.empty()) text += wrapped(line.late, 2);
  const std::string_view what = line.timed > 0 ? "" : "time, spread, moving ";
  if (!line.note.empty()) text += wrapped(std::string(what) + line.note, 2);
  return text;
}

std::string account_of(const ReportContent& content) {
  const double saved = content.tuning.saved;
  return "time in collectives " + duration(content.seconds_mean) +
         (saved < 0 ? ", lost " : ", saved ") + duration(std::abs(saved)) + ", spent exploring " +
         duration(content.tuning.exploring);
}

}  // namespace

std::string to_text(const ReportContent& content) {
  std::string text = header_of(content);
  if (content.calls.empty()) return text + "no calls\n";
  text += "\n" + std::string(table_head);
  std::int64_t explored = 0;
  for (const ReportedCalls& line : content.calls) {
    if (line.explored == line.calls) {
      explored += line.calls;
    } else {
      text += entry_of(line, content.wall);
    }
  }
  if (explored > 0) {
    text += wrapped("not listed: " + counted(explored, "call") + " that explored candidates");
  }
  return text + "\n" + std::string(legend) + "\n" + wrapped(account_of(content));
}

}  // namespace tutti
