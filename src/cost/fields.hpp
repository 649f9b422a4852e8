/// Machines as text: one "name value" a line.
#pragma once

#include <cmath>
#include <iomanip>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace tutti {

/// One number of a machine, in seconds where it does not say otherwise.
template <class M>
struct MachineField {
  std::string_view name;
  double M::*value;
  std::string_view meaning;
};

/// # begins a comment; missing names keep their defaults, unknown ones are ignored. The error names
/// the line.
template <class M>
[[nodiscard]] Result<M> read_fields(std::span<const MachineField<M>> fields,
                                    std::string_view text) {
  M machine;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name)) continue;
    for (const MachineField<M>& field : fields) {
      if (field.name != name) continue;
      double value = 0;
      if (!(words >> value) || !std::isfinite(value) || value <= 0) {
        return Error{"line " + std::to_string(number) + ", \"" + line + "\": " + name +
                     " needs a positive number"};
      }
      machine.*field.value = value;
    }
  }
  return machine;
}

template <class M>
[[nodiscard]] std::string write_fields(std::span<const MachineField<M>> fields, const M& machine) {
  std::ostringstream text;
  text << std::setprecision(17);
  for (const MachineField<M>& field : fields) {
    if (machine.*field.value <= 0) continue;  // not known
    text << field.name << ' ' << machine.*field.value << "  # " << field.meaning << '\n';
  }
  return text.str();
}

}  // namespace tutti
