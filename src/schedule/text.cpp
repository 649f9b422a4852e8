/// Writes schedules as text and reads them back.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "schedule/schedule.hpp"

namespace tutti {

namespace {

constexpr std::array<std::string_view, 9> kinds = {"send", "recv",  "copy",   "reduce", "wait",
                                                   "put",  "flush", "notify", "await"};
constexpr std::array<std::string_view, 3> operands = {"left", "right", "only"};

std::string to_text(BlockRange range) {
  return "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
}

std::string to_text(const Step& step) {
  std::string text(name_of(step.kind));
  if (step.kind == StepKind::wait) {
    return text + " " + std::to_string(step.first) + "-" + std::to_string(step.last);
  }
  text += " " + std::to_string(step.peer) + " " + to_text(step.blocks.range) + " " +
          std::to_string(step.bytes);
  if (!step.blocks.holes.empty()) {
    text += " without";
    for (const BlockRange& hole : step.blocks.holes) text += " " + to_text(hole);
  }
  if (step.offset != 0) text += " from " + std::to_string(step.offset);
  if (step.after >= 0) text += " after " + std::to_string(step.after);
  if (step.slots != 0) text += " slots " + std::to_string(step.slots);
  if (step.carries) text += " carried";
  if (step.staged) text += " staged";
  if (step.kind == StepKind::reduce)
    text += " " + std::string(operands[static_cast<std::size_t>(step.operand)]);
  if (step.runner == Runner::background) text += " background";
  return text;
}

/// Reads the words of one line in sequence.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(word.size());
    return word;
  }
  std::string_view peek() const { return Words(*this).next(); }

  template <class Number>
  bool number(Number& value) {
    return parse(next(), value);
  }
  /// Two numbers between `open`, `middle` and `close`, e.g. "[2,3)".
  template <class Number>
  bool pair(std::string_view open, char middle, std::string_view close, Number& a, Number& b) {
    std::string_view word = next();
    if (!word.starts_with(open) || !word.ends_with(close)) return false;
    word = word.substr(open.size(), word.size() - open.size() - close.size());
    const std::size_t at = word.find(middle);
    return at != std::string_view::npos && parse(word.substr(0, at), a) &&
           parse(word.substr(at + 1), b);
  }
  bool range(BlockRange& range) { return pair("[", ',', ")", range.begin, range.end); }

 private:
  template <class Number>
  static bool parse(std::string_view word, Number& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
  }
  std::string_view rest_;
};

std::optional<StepKind> kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == name) return static_cast<StepKind>(i);
  }
  return std::nullopt;
}

bool read_header(Words words, Schedule& schedule) {
  const auto collective = collective_named(words.next());
  if (!collective) return false;
  schedule.collective = *collective;
  return words.next() == "p" && words.number(schedule.p) && words.next() == "rank" &&
         words.number(schedule.rank) && words.next() == "root" && words.number(schedule.root) &&
         (words.peek() != "parts" || (words.next() == "parts" && words.number(schedule.parts))) &&
         words.next().empty();
}

bool read_options(Words& words, Step& step) {
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "background") {
      step.runner = Runner::background;
    } else if (word == "carried") {
      step.carries = true;
    } else if (word == "staged") {
      step.staged = true;
    } else if (const auto known = std::find(operands.begin(), operands.end(), word);
               known != operands.end()) {
      step.operand = static_cast<Operand>(known - operands.begin());
    } else if (word == "from") {
      if (!words.number(step.offset)) return false;
    } else if (word == "after") {
      if (!words.number(step.after)) return false;
    } else if (word == "slots") {
      if (!words.number(step.slots)) return false;
    } else if (word == "without") {
      while (words.peek().starts_with("[")) {
        BlockRange hole;
        if (!words.range(hole)) return false;
        step.blocks.holes.push_back(hole);
      }
    } else {
      return false;
    }
  }
  return true;
}

bool read_step(Words words, StepId number, Step& step) {
  StepId written = -1;
  if (!words.number(written) || written != number) return false;
  const auto kind = kind_named(words.next());
  if (!kind) return false;
  step.kind = *kind;
  if (step.kind == StepKind::wait) {
    return words.pair("", '-', "", step.first, step.last) && words.next().empty();
  }
  return words.number(step.peer) && words.range(step.blocks.range) && words.number(step.bytes) &&
         read_options(words, step);
}

}  // namespace

std::string_view name_of(StepKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::string to_text(const Schedule& schedule) {
  std::string text(name_of(schedule.collective));
  text += " p " + std::to_string(schedule.p) + " rank " + std::to_string(schedule.rank) + " root " +
          std::to_string(schedule.root) +
          (schedule.parts == 1 ? "" : " parts " + std::to_string(schedule.parts)) + "\n";
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    text += std::to_string(i) + " " + to_text(schedule.steps[i]) + "\n";
  }
  return text;
}

Result<Schedule> from_text(std::string_view text) {
  Schedule schedule;
  bool header = false;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (Words(line).next().empty()) continue;
    const auto number = static_cast<StepId>(schedule.steps.size());
    const bool good = header ? read_step(Words(line), number, schedule.steps.emplace_back())
                             : read_header(Words(line), schedule);
    if (!good) {
      return Error{"line " + std::to_string(line_number) + ", \"" + std::string(line) +
                   "\": expected " +
                   (header ? "step " + std::to_string(number) +
                                 ", such as \"0 recv 2 [2,3) 16\" or \"1 wait 0-1\""
                           : std::string("a header such as \"gatherv p 4 rank 1 root 0\""))};
    }
    header = true;
  }
  if (!header)
    return Error{
        "the schedule is empty; expected a header such as "
        "\"gatherv p 4 rank 1 root 0\""};
  return schedule;
}

}  // namespace tutti
