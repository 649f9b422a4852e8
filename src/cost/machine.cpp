/// Machines as text.
#include "cost/machine.hpp"

#include <array>

#include "cost/fields.hpp"

namespace tutti {

namespace {
constexpr std::array<MachineField<Machine>, 6> fields = {{
    {"latency", &Machine::latency, "seconds for a message without bytes"},
    {"per_byte", &Machine::per_byte, "seconds for each further byte"},
    {"overhead", &Machine::overhead, "seconds a processor is busy with one message"},
    {"gap", &Machine::gap, "least seconds between two messages at one rank"},
    {"polling", &Machine::polling, "seconds until a thread that polls sees a notification"},
    {"serving", &Machine::serving, "seconds that a put waits for its target's thread"},
}};
}  // namespace

Result<Machine> machine_from_text(std::string_view text) {
  return read_fields<Machine>(fields, text);
}

std::string to_text(const Machine& machine) { return write_fields<Machine>(fields, machine); }

}  // namespace tutti
