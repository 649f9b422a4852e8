/// Machines as text: one "name value" per line, independent of the program's locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace tutti {

/// One number of a machine, in seconds unless `meaning` names another unit.
template <class M>
struct MachineField {
  std::string_view name;
  double M::*value;
  double min;  ///< accepted values: min..max
  double max;
  std::string_view meaning;
  std::string_view former = {};  ///< the name in files of earlier versions
};

/// The shortest text that reads back as the same number.
[[nodiscard]] inline std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

/// Removes and returns the first word of a line; empty if there is none.
[[nodiscard]] inline std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// A machine, and the number of lines of its text that named one of its numbers.
template <class M>
struct FieldsRead {
  M machine;
  int lines = 0;
};

/// Reads a machine. # begins a comment; missing names keep their defaults, unknown names are
/// ignored. The error names the line and the accepted values.
template <class M>
[[nodiscard]] Result<FieldsRead<M>> read_fields(std::span<const MachineField<M>> fields,
                                                std::string_view text) {
  FieldsRead<M> read;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::string_view rest = line.substr(0, line.find('#'));
    const std::string_view name = take_word(rest);
    for (const MachineField<M>& field : fields) {
      if (name.empty() || (field.name != name && field.former != name)) continue;
      const std::string_view word = take_word(rest);
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool is_number = error == std::errc() && end == word.data() + word.size();
      if (!is_number || !(value >= field.min && value <= field.max)) {
        return Error{"line " + std::to_string(number) + ", \"" + std::string(line) +
                     "\": expected " + std::string(name) + " from " + number_text(field.min) +
                     " to " + number_text(field.max)};
      }
      read.machine.*field.value = value;
      ++read.lines;
    }
  }
  return read;
}

template <class M>
[[nodiscard]] std::string write_fields(std::span<const MachineField<M>> fields, const M& machine) {
  std::string text;
  for (const MachineField<M>& field : fields) {
    if (machine.*field.value <= 0) continue;  // unknown
    text += std::string(field.name) + ' ' + number_text(machine.*field.value) + "  # " +
            std::string(field.meaning) + '\n';
  }
  return text;
}

/// The first number outside its accepted range, with its name, value and range; else an empty text.
/// Accepts 0, which means unknown.
template <class M>
[[nodiscard]] std::string field_out_of_range(std::span<const MachineField<M>> fields,
                                             const M& machine) {
  for (const MachineField<M>& field : fields) {
    const double value = machine.*field.value;
    if (value == 0 || (value >= field.min && value <= field.max)) continue;
    return std::string(field.name) + " " + number_text(value) + ": expected " +
           number_text(field.min) + " to " + number_text(field.max);
  }
  return "";
}

}  // namespace tutti
