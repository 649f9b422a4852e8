/// Reads and writes machines as text.
#include "cost/machine.hpp"

#include <array>

#include "cost/fields.hpp"

namespace tutti {

namespace {
constexpr std::array<MachineField<Machine>, 6> fields = {{
    {"latency", &Machine::latency, 1e-9, 1e-2, "seconds for a message without bytes"},
    {"per_byte", &Machine::per_byte, 2e-12, 1e-4, "seconds for each further byte"},
    {"overhead", &Machine::overhead, 1e-10, 1e-2,
     "seconds that a processor is busy with one message"},
    {"gap", &Machine::gap, 1e-10, 1e-2, "minimum seconds between two messages at one rank"},
    {"polling", &Machine::polling, 1e-9, 10, "seconds until a polling thread sees a notification"},
    {"serving", &Machine::serving, 1e-9, 10, "seconds that a put waits for its target's thread"},
}};
}  // namespace

Result<Machine> machine_from_text(std::string_view text, int* lines) {
  const auto read = read_fields<Machine>(fields, text);
  if (!read) return Error{read.error()};
  if (lines != nullptr) *lines = read->lines;
  return read->machine;
}

std::string out_of_range(const Machine& machine) {
  return field_out_of_range<Machine>(fields, machine);
}

std::string to_text(const Machine& machine) { return write_fields<Machine>(fields, machine); }

}  // namespace tutti
