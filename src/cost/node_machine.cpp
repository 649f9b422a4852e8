/// Reads and writes machines of nodes as text.
#include "cost/node_machine.hpp"

#include <array>

#include "cost/fields.hpp"

namespace tutti {

namespace {
/// The first fields are those of a Machine too.
constexpr std::size_t shared_fields = 2;
constexpr std::array<MachineField<NodeMachine>, 10> fields = {{
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

Result<NodeMachine> node_machine_from_text(std::string_view text) {
  const auto read = read_fields<NodeMachine>(fields, text);
  if (!read) return Error{read.error()};
  return read->machine;
}

Result<Machines> machines_from_text(std::string_view text) {
  int lines = 0;
  const Result<Machine> messages = machine_from_text(text, &lines);
  if (!messages) return Error{messages.error()};
  const auto nodes = read_fields<NodeMachine>(fields, text);
  if (!nodes) return Error{nodes.error()};
  if (lines + nodes->lines == 0) {
    return Error{"expected at least one line such as \"latency 2e-6\""};
  }
  return Machines{*messages, nodes->machine};
}

std::string out_of_range(const NodeMachine& machine) {
  return field_out_of_range<NodeMachine>(fields, machine);
}

std::string to_text(const NodeMachine& machine) {
  return write_fields<NodeMachine>(fields, machine);
}

std::string to_text(const Machine& machine, const NodeMachine& node_machine) {
  const std::span<const MachineField<NodeMachine>> all = fields;
  return to_text(machine) + write_fields<NodeMachine>(all.subspan(shared_fields), node_machine);
}

}  // namespace tutti
