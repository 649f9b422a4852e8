/// Reads and writes machines as text: one "name value" per line, independent of the program's
/// locale.
#include "cost/machine.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/numbers.hpp"

namespace tutti {

namespace {

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

/// Removes and returns the first word of a line; empty if there is none.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// Reads a machine. Adds to `lines` the number of lines that named one of its numbers.
template <class M>
Result<M> read_fields(std::span<const MachineField<M>> fields, std::string_view text, int& lines) {
  M machine;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::string_view rest = line.substr(0, line.find('#'));
    const std::string_view name = take_word(rest);
    for (const MachineField<M>& field : fields) {
      if (name.empty() || (field.name != name && field.former != name)) continue;
      const std::string_view word = take_word(rest);
      double value = 0;
      if (!read_number(word, value) || !(value >= field.min && value <= field.max)) {
        return Error{"line " + std::to_string(number) + ", \"" + std::string(line) +
                     "\": expected " + std::string(name) + " from " + in_characters(field.min) +
                     " to " + in_characters(field.max)};
      }
      machine.*field.value = value;
      ++lines;
    }
  }
  return machine;
}

template <class M>
std::string write_fields(std::span<const MachineField<M>> fields, const M& machine) {
  std::string text;
  for (const MachineField<M>& field : fields) {
    if (machine.*field.value <= 0) continue;  // unknown
    text += std::string(field.name) + ' ' + in_characters(machine.*field.value) + "  # " +
            std::string(field.meaning) + '\n';
  }
  return text;
}

/// Accepts 0, which means unknown.
template <class M>
std::string field_out_of_range(std::span<const MachineField<M>> fields, const M& machine) {
  for (const MachineField<M>& field : fields) {
    const double value = machine.*field.value;
    if (value == 0 || (value >= field.min && value <= field.max)) continue;
    return std::string(field.name) + " " + in_characters(value) + ": expected " +
           in_characters(field.min) + " to " + in_characters(field.max);
  }
  return "";
}

constexpr std::array<MachineField<Machine>, 6> machine_fields = {{
    {"latency", &Machine::latency, 1e-9, 1e-2, "seconds for a message without bytes"},
    {"per_byte", &Machine::per_byte, 2e-12, 1e-4, "seconds for each further byte"},
    {"overhead", &Machine::overhead, 1e-10, 1e-2,
     "seconds that a processor is busy with one message"},
    {"gap", &Machine::gap, 1e-10, 1e-2, "minimum seconds between two messages at one rank"},
    {"polling", &Machine::polling, 1e-9, 10, "seconds until a polling thread sees a notification"},
    {"serving", &Machine::serving, 1e-9, 10, "seconds that a put waits for its target's thread"},
}};

/// The first fields are those of a Machine too.
constexpr std::size_t shared_fields = 2;
constexpr std::array<MachineField<NodeMachine>, 10> node_fields = {{
    {"latency", &NodeMachine::latency, 1e-9, 1e-2,
     "seconds for a message without bytes to another node"},
    {"per_byte", &NodeMachine::per_byte, 2e-12, 1e-4,
     "seconds for each byte through a node's adapter"},
    {"sender_per_byte", &NodeMachine::sender_per_byte, 2e-12, 1e-4,
     "seconds for each byte of one sender alone"},
    {"node_gap", &NodeMachine::node_gap, 1e-10, 1e-2,
     "minimum seconds between two messages of a node"},
    {"local_latency", &NodeMachine::local_latency, 1e-9, 1,
     "seconds for an empty message inside a node"},
    {"local_per_byte", &NodeMachine::local_per_byte, 2e-12, 1e-4,
     "seconds for each byte of such a message"},
    {"copy_per_byte", &NodeMachine::copy_per_byte, 1e-12, 1e-5,
     "seconds for a rank to copy a byte, alone"},
    {"shared_per_byte", &NodeMachine::shared_per_byte, 1e-14, 1e-5,
     "seconds for each byte that all ranks of a node copy together"},
    {"combine_per_byte", &NodeMachine::combine_per_byte, 1e-12, 1e-5,
     "seconds for a rank to reduce a byte"},
    {"signal", &NodeMachine::signal, 1e-10, 1, "seconds until another rank's signal is seen",
     "flag"},
}};

}  // namespace

Result<Machine> machine_from_text(std::string_view text) {
  int lines = 0;
  return read_fields<Machine>(machine_fields, text, lines);
}

Result<NodeMachine> node_machine_from_text(std::string_view text) {
  int lines = 0;
  return read_fields<NodeMachine>(node_fields, text, lines);
}

Result<Machines> machines_from_text(std::string_view text) {
  int lines = 0;
  const auto messages = read_fields<Machine>(machine_fields, text, lines);
  if (!messages) return Error{messages.error()};
  const auto nodes = read_fields<NodeMachine>(node_fields, text, lines);
  if (!nodes) return Error{nodes.error()};
  if (lines == 0) return Error{"expected at least one line such as \"latency 2e-6\""};
  return Machines{*messages, *nodes};
}

std::string out_of_range(const Machine& machine) {
  return field_out_of_range<Machine>(machine_fields, machine);
}
std::string out_of_range(const NodeMachine& machine) {
  return field_out_of_range<NodeMachine>(node_fields, machine);
}

std::string to_text(const Machine& machine) {
  return write_fields<Machine>(machine_fields, machine);
}
std::string to_text(const NodeMachine& machine) {
  return write_fields<NodeMachine>(node_fields, machine);
}
std::string to_text(const Machine& machine, const NodeMachine& node_machine) {
  const std::span<const MachineField<NodeMachine>> all = node_fields;
  return to_text(machine) + write_fields<NodeMachine>(all.subspan(shared_fields), node_machine);
}

}  // namespace tutti
