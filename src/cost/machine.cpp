/// Machines as text.
#include "cost/machine.hpp"

#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace tutti {

namespace {
struct Field {
  std::string_view name;
  double Machine::*value;
  std::string_view meaning;
};
constexpr std::array<Field, 4> fields = {{
    {"latency", &Machine::latency, "seconds for a message without bytes"},
    {"per_byte", &Machine::per_byte, "seconds for each further byte"},
    {"overhead", &Machine::overhead, "seconds a processor is busy with one message"},
    {"gap", &Machine::gap, "least seconds between two messages at one rank"},
}};
}  // namespace

Result<Machine> machine_from_text(std::string_view text) {
  Machine machine;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name)) continue;
    for (const Field& field : fields) {
      if (field.name != name) continue;
      double value = 0;
      if (!(words >> value) || !std::isfinite(value) || value <= 0) {
        return Error{"line " + std::to_string(number) + ", \"" + line + "\": " + name +
                     " needs a positive number of seconds"};
      }
      machine.*field.value = value;
    }
  }
  return machine;
}

std::string to_text(const Machine& machine) {
  std::ostringstream text;
  text << std::setprecision(17);
  for (const Field& field : fields) {
    text << field.name << ' ' << machine.*field.value << "  # " << field.meaning << '\n';
  }
  return text.str();
}

}  // namespace tutti
