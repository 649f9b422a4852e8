/// Reads and writes machines as text: one "name value" per line, independent of the program's
/// locale.
#include "cost/machine.hpp"

#include <array>

#include "core/numbers.hpp"
#include "core/words.hpp"

namespace tutti {

namespace {

/// One number of a machine, in seconds unless `meaning` names another unit.
struct MachineField {
  std::string_view name;
  double Machine::*value;
  double min;  ///< accepted values: min..max
  double max;
  std::string_view meaning;
  std::string_view former = {};  ///< the name in files of earlier versions
};

constexpr std::array<MachineField, 14> machine_fields = {{
    {"latency", &Machine::latency, 1e-9, 1e-2, "seconds for a message without bytes"},
    {"per_byte", &Machine::per_byte, 2e-12, 1e-4, "seconds for each further byte"},
    {"overhead", &Machine::overhead, 1e-10, 1e-2,
     "seconds that a processor is busy with one message"},
    {"gap", &Machine::gap, 1e-10, 1e-2, "minimum seconds between two messages at one rank"},
    {"polling", &Machine::polling, 1e-9, 10, "seconds until a polling thread sees a notification"},
    {"serving", &Machine::serving, 1e-9, 10, "seconds that a put waits for its target's thread"},
    {"sender_per_byte", &Machine::sender_per_byte, 2e-12, 1e-4,
     "seconds for each byte of one sender alone"},
    {"node_gap", &Machine::node_gap, 1e-10, 1e-2, "minimum seconds between two messages of a node"},
    {"local_latency", &Machine::local_latency, 1e-9, 1,
     "seconds for an empty message inside a node"},
    {"local_per_byte", &Machine::local_per_byte, 2e-12, 1e-4,
     "seconds for each byte of such a message"},
    {"copy_per_byte", &Machine::copy_per_byte, 1e-12, 1e-5,
     "seconds for a rank to copy a byte, alone"},
    {"shared_per_byte", &Machine::shared_per_byte, 1e-14, 1e-5,
     "seconds for each byte that all ranks of a node copy together"},
    {"combine_per_byte", &Machine::combine_per_byte, 1e-12, 1e-5,
     "seconds for a rank to reduce a byte"},
    {"signal", &Machine::signal, 1e-10, 1, "seconds until another rank's signal is seen", "flag"},
}};

}  // namespace

Result<Machine> machine_from_text(std::string_view text) {
  Machine machine;
  bool is_empty = true;
  int number = 0;
  for (const std::string_view line : split(text, "\n")) {
    ++number;
    std::vector<std::string_view> words = split(line.substr(0, line.find('#')), " \t\r\v\f");
    std::erase(words, std::string_view());
    for (const MachineField& field : machine_fields) {
      if (words.empty() || (field.name != words[0] && field.former != words[0])) continue;
      double value = 0;
      if (words.size() < 2 || !read_number(words[1], value) ||
          !(value >= field.min && value <= field.max)) {
        return Error{"line " + std::to_string(number) + ", \"" + std::string(line) +
                     "\": expected " + std::string(words[0]) + " from " + in_characters(field.min) +
                     " to " + in_characters(field.max)};
      }
      machine.*field.value = value;
      is_empty = false;
    }
  }
  if (is_empty) return Error{"expected at least one line such as \"latency 2e-6\""};
  return machine;
}

std::string out_of_range(const Machine& machine) {
  for (const MachineField& field : machine_fields) {
    const double value = machine.*field.value;
    if (value == 0 || (value >= field.min && value <= field.max)) continue;
    return std::string(field.name) + " " + in_characters(value) + ": expected " +
           in_characters(field.min) + " to " + in_characters(field.max);
  }
  return "";
}

std::string to_text(const Machine& machine) {
  std::string text;
  for (const MachineField& field : machine_fields) {
    if (machine.*field.value <= 0) continue;  // unknown
    text += std::string(field.name) + ' ' + in_characters(machine.*field.value) + "  # " +
            std::string(field.meaning) + '\n';
  }
  return text;
}

}  // namespace tutti
