/// Machines of nodes as text.
#include "cost/node_machine.hpp"

#include <array>

#include "cost/fields.hpp"

namespace tutti {

namespace {
/// The first ones are a Machine's too.
constexpr std::size_t shared_fields = 2;
constexpr std::array<MachineField<NodeMachine>, 11> fields = {{
    {"latency", &NodeMachine::latency, "seconds for a message without bytes to another node"},
    {"per_byte", &NodeMachine::per_byte, "seconds for each byte through a node's adapter"},
    {"sender_per_byte", &NodeMachine::sender_per_byte, "the same for one sender alone"},
    {"node_gap", &NodeMachine::node_gap, "least seconds between two messages of a node"},
    {"local_latency", &NodeMachine::local_latency, "seconds for an empty message inside a node"},
    {"local_per_byte", &NodeMachine::local_per_byte, "seconds for each byte of such a message"},
    {"copy_per_byte", &NodeMachine::copy_per_byte, "seconds a rank copies a byte, alone"},
    {"shared_per_byte", &NodeMachine::shared_per_byte, "the same for all ranks of a node together"},
    {"combine_per_byte", &NodeMachine::combine_per_byte, "seconds a rank combines a byte"},
    {"flag", &NodeMachine::flag, "seconds until another rank's flag is seen"},
    {"crowding", &NodeMachine::crowding, "ranks for each core where flags were measured"},
}};
}  // namespace

Result<NodeMachine> node_machine_from_text(std::string_view text) {
  return read_fields<NodeMachine>(fields, text);
}

std::string to_text(const NodeMachine& machine) {
  return write_fields<NodeMachine>(fields, machine);
}

std::string to_text(const Machine& machine, const NodeMachine& node_machine) {
  const std::span<const MachineField<NodeMachine>> all = fields;
  return to_text(machine) + write_fields<NodeMachine>(all.subspan(shared_fields), node_machine);
}

}  // namespace tutti
