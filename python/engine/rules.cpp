/// Rules for Python.
#include "select/rules.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "run/file.hpp"
#include "select/learned.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

namespace {

/// The rule that decides a call on any network, or None. Where nodes or the MPI are not given their
/// keys match.
std::optional<Rule> find(const Rules& rules, const std::string& collective, int p, Bytes bytes,
                         int nodes, int ranks_per_node, bool commutative, const std::string& mpi,
                         std::int64_t irregularity) {
  const Features features = {.collective = collective_or_raise(collective),
                             .p = p,
                             .nodes = nodes,
                             .ranks_per_node = ranks_per_node,
                             .commutative = commutative,
                             .irregularity = irregularity};
  const MpiVersion version = mpi_version(mpi);
  for (const Rule& rule : rules.all) {
    Rule asked = rule;
    asked.network.clear();
    if (mpi.empty()) asked.mpi.clear();
    if (version.version.empty()) asked.version.clear();
    if (nodes == 0) asked.nodes = {};
    if (ranks_per_node == 0) asked.ranks_per_node = {};
    const Rules alone = rules_for({{asked}, {}}, p, {version, ""});
    const std::vector<RuleSpan> spans = spans_of(alone, features);
    const auto span = std::find_if(spans.begin(), spans.end(),
                                   [bytes](const RuleSpan& one) { return bytes <= one.most; });
    if (span->rule != nullptr) return rule;
  }
  return std::nullopt;
}

/// Why Tutti follows a rule for a call without a user-defined operation, and what it runs.
std::pair<std::string, std::string> choice(const Rule& rule, bool background) {
  const Choice made =
      choice_of(rule, {.collective = rule.collective, .has_background = background});
  return {to_text(made.setting), made.reason};
}

std::optional<std::pair<double, double>> ends(const std::optional<RuleInterval>& interval) {
  if (!interval) return {};
  return std::pair(interval->least, interval->most);
}

/// Properties for the times that `times_of` finds in a value.
template <class Class, class TimesOf>
void add_times(Class& bound, TimesOf times_of) {
  using Value = typename Class::Type;
  bound.def_prop_ro("native_us", [=](const Value& value) { return times_of(value).native_us; })
      .def_prop_ro("choice_us", [=](const Value& value) { return times_of(value).choice_us; })
      .def_prop_ro("native_interval_us",
                   [=](const Value& value) { return ends(times_of(value).native_interval_us); })
      .def_prop_ro("choice_interval_us",
                   [=](const Value& value) { return ends(times_of(value).choice_interval_us); });
}

}  // namespace

void bind_rules(nb::module_& module) {
  nb::class_<SizedRuleTimes> times(module, "RuleTimes",
                                   "Medians and intervals, in microseconds, for one message size.");
  times.def_ro("bytes", &SizedRuleTimes::bytes);
  add_times(times, [](const SizedRuleTimes& value) -> const RuleTimes& { return value; });
  nb::class_<Rule> bound(module, "Rule",
                         "What to run for some calls, and the measurement behind it.");
  add_times(bound, [](const Rule& value) -> const RuleTimes& { return value.evidence; });
  bound.def_prop_ro("collective", [](const Rule& rule) { return name_of(rule.collective); })
      .def_prop_ro("p", [](const Rule& rule) { return to_text(rule.p); })
      .def_prop_ro("nodes", [](const Rule& rule) { return to_text(rule.nodes); })
      .def_prop_ro("ranks_per_node", [](const Rule& rule) { return to_text(rule.ranks_per_node); })
      .def_prop_ro("bytes", [](const Rule& rule) { return to_text(rule.bytes); })
      .def_prop_ro("irregularity", [](const Rule& rule) { return to_text(rule.irregularity); })
      .def_ro("commutative", &Rule::commutative)
      .def_ro("mpi", &Rule::mpi)
      .def_ro("version", &Rule::version)
      .def_ro("network", &Rule::network)
      .def_prop_ro("use", [](const Rule& rule) { return to_text(rule.use); })
      .def_prop_ro("sizes", [](const Rule& rule) { return rule.evidence.sizes; })
      .def_prop_ro("calls", [](const Rule& rule) { return rule.evidence.calls; })
      .def_prop_ro("date", [](const Rule& rule) { return rule.evidence.date; })
      .def_prop_ro("command", [](const Rule& rule) { return rule.evidence.command; })
      .def_prop_ro("source", [](const Rule& rule) { return rule.evidence.source; })
      .def(
          "choice",
          [](const Rule& rule, bool background) { return choice(rule, background).first; },
          "background"_a = false, "What Tutti runs by it.")
      .def(
          "reason",
          [](const Rule& rule, bool background) { return choice(rule, background).second; },
          "background"_a = false, "Why, as reports say it.");
  nb::class_<Rules>(module, "Rules", "Rules in the sequence in which they are tried.")
      .def(nb::init<std::vector<Rule>>(), "all"_a = std::vector<Rule>())
      .def_ro("all", &Rules::all, nb::rv_policy::copy)  // extend() moves those of the list
      .def_ro("remarks", &Rules::remarks, "About fields that were ignored.")
      .def(
          "extend",
          [](Rules& rules, const Rules& more) {
            rules.all.insert(rules.all.end(), more.all.begin(), more.all.end());
          },
          "more"_a, "Appends rules, which are tried after these.")
      .def("find", &find, "collective"_a, "ranks"_a, "bytes"_a, "nodes"_a = 1,
           "ranks_per_node"_a = 1, "commutative"_a = true, "mpi"_a = "", "irregularity"_a = 1,
           "The rule that decides a call on any network; None if there is none. Nodes and "
           "ranks_per_node 0 and an empty mpi (the library's version text) mean any.")
      .def(
          "text", [](const Rules& rules) { return to_text(rules); },
          "The rules as a file, one a line.");
  module.def(
      "irregularity_of",
      [](const std::vector<std::int64_t>& blocks) {
        const std::int64_t largest = blocks.empty() ? 0 : *std::ranges::max_element(blocks);
        const auto total = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
        return irregularity_of(largest, total, static_cast<int>(blocks.size()));
      },
      "blocks"_a,
      "As rules count it: the largest block over the mean one, rounded up; 1 up to 5 % more.");
  module.def(
      "rules_from_text",
      [](const std::string& text, const std::string& source) {
        return value_or_raise(rules_from_text(text, source));
      },
      "text"_a, "source"_a,
      "Reads a rules file; ValueError names line, field, value and what is accepted.");
  module.def(
      "range_text",
      [](const std::string& text) { return to_text(value_or_raise(number_range(text))); }, "text"_a,
      "The shortest text of a range such as 1024..65536; ValueError says what is accepted.");
  module.def(
      "needs_arrivals",
      [](const std::string& collective, const std::string& text) {
        const Setting read = value_or_raise(setting(collective_or_raise(collective), text));
        return read.kind == Setting::Kind::forced && read.specification.needs_arrivals();
      },
      "collective"_a, "setting"_a, "What it runs depends on when ranks are expected to arrive.");
  module.def(
      "mpi_version",
      [](const std::string& text) {
        const MpiVersion version = mpi_version(text);
        return std::vector<std::string>{version.name, version.version};
      },
      "library_version"_a, "Name and version of an MPI, as rules write them.");
  module.def(
      "rule_files",
      [](const std::string& setting, const std::string& library_folder) {
        std::vector<std::string> paths;
        for (const RuleFile& file : rule_files(setting, library_folder)) paths.push_back(file.path);
        return paths;
      },
      "setting"_a, "library_folder"_a,
      "The rules files that a program of this user reads, in the sequence of their merging.");
  module.def("cache_file", &cache_file, "name"_a,
             "A file in this user's cache folder; empty if there is no such folder.");
  module.attr("rules_schema") = std::string(rules_schema);
  module.attr("max_rules_bytes") = max_rules_bytes;
  module.attr("kept_rules_name") = kept_rules_name;
}

}  // namespace tutti
