/// Python bindings of lists: algorithms, aliases, settings, distributions, collectives, machines.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "algorithms/algorithms.hpp"
#include "api/environment.hpp"
#include "core/distributions.hpp"
#include "core/words.hpp"
#include "cost/machine.hpp"
#include "engine.hpp"
#include "run/file.hpp"
#include "select/selection.hpp"
#include "select/settings.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

namespace {

template <class T>
std::vector<T> copied(std::span<const T> list) {
  return {list.begin(), list.end()};
}

std::vector<Bytes> distribute_named(const std::string& name, int p, Bytes block, std::uint64_t seed,
                                    int rho) {
  const auto distribution = distribution_named(name);
  if (!distribution) {
    std::vector<std::string_view> known;
    for (const Distribution one : all_distributions) known.push_back(name_of(one));
    const std::string text =
        "unknown distribution '" + name + "'" + valid_names(name, known, "distributions");
    throw nb::value_error(text.c_str());
  }
  if (p < 1 || block < 0 || rho < 1) {
    const std::string text = "ranks " + std::to_string(p) + ", block " + std::to_string(block) +
                             ", rho " + std::to_string(rho) +
                             ": expected ranks and rho of at least 1, block of at least 0";
    throw nb::value_error(text.c_str());
  }
  const double most = static_cast<double>(block) * std::max({2.0 * p, double(rho), 2.0});
  if (most > 0x1p62) {
    const std::string text =
        "block " + std::to_string(block) + ": too many bytes in all; expected at most 2^62";
    throw nb::value_error(text.c_str());
  }
  return distribute(*distribution, p, block, seed, rho);
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const Distribution distribution : all_distributions) {
    names.emplace_back(name_of(distribution));
  }
  return names;
}

void bind_records(nb::module_& module) {
  nb::class_<Algorithm>(module, "Algorithm", "An algorithm of the list.")
      .def_prop_ro("collective", [](const Algorithm& a) { return name_of(a.collective); })
      .def_ro("name", &Algorithm::name)
      .def_ro("order", &Algorithm::order)
      .def_prop_ro("knowledge", [](const Algorithm& a) { return name_of(a.knowledge); })
      .def_ro("parameters", &Algorithm::parameters)
      .def_ro("summary", &Algorithm::summary);
  nb::class_<Alias>(module, "Alias", "A paper's name for a specification.")
      .def_ro("name", &Alias::name)
      .def_ro("specification", &Alias::specification);
  nb::class_<SettingInfo>(module, "Setting", "A setting, which an environment variable holds.")
      .def_ro("name", &SettingInfo::name)
      .def_ro("default", &SettingInfo::by_default)
      .def_ro("accepted", &SettingInfo::accepted)
      .def_ro("meaning", &SettingInfo::meaning);
  nb::class_<Machine>(module, "Machine",
                      "The model's parameters of messages and of nodes, in seconds.")
      .def(nb::init<>())
      .def_rw("latency", &Machine::latency, "End-to-end time of an empty message.")
      .def_rw("per_byte", &Machine::per_byte, "Time per byte.")
      .def_rw("overhead", &Machine::overhead, "Processor time per message.")
      .def_rw("gap", &Machine::gap, "Minimum time between two messages of one rank.")
      .def_rw("polling", &Machine::polling, "Time until a polling thread sees a notification.")
      .def_rw("serving", &Machine::serving, "Time that a put waits for its target's thread.")
      .def("__repr__", [](const Machine& machine) { return to_text(machine); });
}

}  // namespace

Collective collective_or_raise(const std::string& name) {
  const auto collective = collective_named(name);
  if (collective) return *collective;
  throw nb::value_error(unknown_collective(name).c_str());
}

void bind_lists(nb::module_& module) {
  bind_records(module);
  module.def("algorithms", [] { return copied(all_algorithms()); });
  module.def("aliases", [] { return copied(all_aliases()); });
  module.def("settings", [] { return copied(all_settings()); });
  module.def("former_name_of", &former_name_of, "name"_a,
             "An accepted alias of a setting; empty if it has none.");
  module.def("unknown_setting", &unknown_setting, "name"_a,
             "The error message for an unknown variable: it suggests the nearest setting.");
  module.def("is_setting", &is_setting, "name"_a,
             "Whether the library, the commands or the modulefile know the variable.");
  module.def(
      "settings_error",
      [](const std::map<std::string, std::string>& variables) {
        return read_settings({variables.begin(), variables.end()}).error;
      },
      "variables"_a,
      "What the library refuses in these TUTTI variables, as it would say it; empty if nothing. "
      "Does not read the files of TUTTI_DISTANCES and TUTTI_RULES.");
  module.def(
      "is_on", [](const std::string& text) { return value_or_raise(switched(text)); }, "text"_a,
      "The value of a setting that is on or off; ValueError says what is accepted.");
  module.def(
      "did_you_mean",
      [](const std::string& given, const std::vector<std::string>& known) {
        return did_you_mean(given, std::vector<std::string_view>(known.begin(), known.end()));
      },
      "given"_a, "known"_a, "The end of an error: the nearest known name; empty without one.");
  module.def(
      "valid_names",
      [](const std::string& given, const std::vector<std::string>& known, const std::string& kind) {
        return valid_names(given, std::vector<std::string_view>(known.begin(), known.end()), kind);
      },
      "given"_a, "known"_a, "kind"_a, "The end of an error: the nearest and all known names.");
  module.def("distributions", distribution_names);
  module.def("collectives", [] {
    std::vector<std::string> names;
    for (const Collective collective : all_collectives) names.emplace_back(name_of(collective));
    return names;
  });
  module.def(
      "is_irregular",
      [](const std::string& name) { return is_irregular(collective_or_raise(name)); },
      "collective"_a, "Whether blocks of the collective may differ in size.");
  module.def(
      "block_kind",
      [](const std::string& name) {
        constexpr std::array<const char*, 4> kinds = {"ranks", "pairs", "parts", "none"};
        return kinds[static_cast<std::size_t>(block_kind(collective_or_raise(name)))];
      },
      "collective"_a,
      "The kind of its blocks: of ranks, of pairs of ranks, parts of a vector, or none.");
  module.def(
      "reduces", [](const std::string& name) { return reduces(collective_or_raise(name)); },
      "collective"_a, "Whether the collective combines contributions of several ranks.");
  module.def(
      "has_two_ports",
      [](const std::string& name) { return has_two_ports(collective_or_raise(name)); },
      "collective"_a, "Whether models let a rank send one message while it receives another.");
  module.def(
      "has_root", [](const std::string& name) { return has_root(collective_or_raise(name)); },
      "collective"_a, "Whether the collective has a root.");
  module.def(
      "setting",
      [](const std::string& collective, const std::string& text) {
        return to_text(value_or_raise(setting(collective_or_raise(collective), text)));
      },
      "collective"_a, "text"_a,
      "The shortest text of the same setting; ValueError if the text is invalid.");
  module.def("distribute", distribute_named, "name"_a, "ranks"_a, "block"_a, "seed"_a = 1,
             "rho"_a = 5, "The block sizes of all ranks, for a distribution and its mean block.");
  module.def(
      "bytes_from", [](const std::string& text) { return value_or_raise(bytes_from(text)); },
      "text"_a, "The number of bytes of a text such as 1536, 64K or 8M.");
  module.def(
      "machine_from_text",
      [](const std::string& text) { return value_or_raise(machine_from_text(text)); }, "text"_a,
      "Reads a machine from \"name value\" lines; missing names keep their defaults. ValueError if "
      "no line names a parameter.");
  module.def(
      "read_text_file",
      [](const std::string& path, std::size_t max_bytes) {
        return value_or_raise(read_text_file(path, max_bytes));
      },
      "path"_a, "max_bytes"_a = std::size_t{1} << 28,
      "The text of a regular file of at most max_bytes; otherwise ValueError, without waiting.");
  module.def("keep_former", &keep_former, "path"_a,
             "Renames an existing file to path.1 or so; returns its new name, or empty.");
  module.def("expanded", &expanded, "path"_a,
             "The path with the number of the batch job for %j and of this process for %p.");
  module.def("why_no_output", &why_no_output, "path"_a,
             "Why a file of this name cannot be written; empty if it can.");
}

}  // namespace tutti
