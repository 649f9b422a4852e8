/// Reads the user's settings, without the environment of this process.
#include "api/settings_reader.hpp"

#include <unistd.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "core/nearest.hpp"
#include "lowering/hierarchical.hpp"
#include "run/file.hpp"
#include "run/node/map.hpp"
#include "select/learned.hpp"
#include "select/settings.hpp"

namespace tutti {

namespace {

constexpr Bytes min_staging = 1024;
constexpr std::size_t max_machine_bytes = 65536;

class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  Environment read() {
    read_switch("TUTTI", environment_.on);
    read_switch("TUTTI_VERBOSE", environment_.verbose);
    read_switch("TUTTI_BACKGROUND", environment_.background);
    read_switch("TUTTI_REPRODUCIBLE", environment_.reproducible);
    read_switch("TUTTI_SPLIT_USER_OPS", environment_.split_user_ops);
    environment_.distances = value_of("TUTTI_DISTANCES");
    if (environment_.distances == "none") environment_.distances.clear();
    environment_.rules = value_of("TUTTI_RULES");
    for (const Collective collective : all_collectives) read_algorithm(collective);
    read_nodes();
    read_memory();
    read_exploration();
    read_learning();
    read_machine();
    read_report();
    note_unknown();
    if (!environment_.on && !environment_.report.empty()) record_only();
    return environment_;
  }

 private:
  /// The value of a setting, by its name or its former one; empty if it is not set.
  [[nodiscard]] std::string value_of(std::string_view name) const {
    for (const std::string_view known : {name, former_name_of(name)}) {
      const auto found = variables_.find(known);
      if (found != variables_.end()) return found->second;
    }
    return "";
  }

  void refuse(const std::string& name, const std::string& value, const std::string& why) {
    if (environment_.error.empty()) {
      environment_.error = "invalid " + name + "=" + value + ": " + why;
    }
  }

  /// Else a misspelt name would have no effect and no message.
  void note_unknown() {
    for (const auto& [name, value] : variables_) {
      if (!name.starts_with("TUTTI_") || is_setting(name)) continue;
      environment_.warnings.push_back(unknown_setting(name));
    }
  }

  void read_switch(const std::string& name, bool& setting) {
    const std::string value = value_of(name);
    if (value.empty()) return;
    const Result<bool> read = switched(value);
    if (!read) return refuse(name, value, read.error());
    setting = *read;
  }

  void read_algorithm(Collective collective) {
    const std::string name = setting_name(collective);
    const std::string value = value_of(name);
    if (value.empty()) return;
    const Result<Setting> read = setting(collective, value);
    if (!read) return refuse(name, value, read.error());
    const std::string why = out_of_reach(*read, !environment_.distances.empty());
    if (!why.empty()) return refuse(name, value, why);
    environment_.settings[static_cast<std::size_t>(collective)] = *read;
  }

  void read_nodes() {
    if (const std::string value = value_of("TUTTI_HIERARCHY"); !value.empty()) {
      const Result<std::optional<Level>> read = level(value);
      if (!read) return refuse("TUTTI_HIERARCHY", value, read.error());
      environment_.level = *read;
    }
    for (const Collective collective : all_collectives) {
      Setting& setting = environment_.settings[static_cast<std::size_t>(collective)];
      const bool is_open =
          setting.kind == Setting::Kind::automatic && can_be_hierarchical(collective);
      // The MPI's own reductions need not be reproducible.
      const bool is_fixed = environment_.reproducible && reduces(collective);
      if (!environment_.level || !is_open || is_fixed) continue;
      setting.level = environment_.level;
      if (setting.level->hierarchical) setting.kind = Setting::Kind::native;
    }
    environment_.nodes = value_of("TUTTI_NODE");
    if (environment_.nodes == "none") environment_.nodes.clear();
    if (!environment_.nodes.empty()) {
      const Result<EmulatedNodes> read = emulated_nodes(environment_.nodes);
      if (!read) return refuse("TUTTI_NODE", environment_.nodes, read.error());
    }
    if (const std::string value = value_of("TUTTI_NODE_MEMORY"); !value.empty()) {
      const Result<Bytes> read = bytes_from(value);
      if (!read || *read < (Bytes{64} << 10) || *read > max_node_memory) {
        return refuse("TUTTI_NODE_MEMORY", value, "expected 64K to 1G bytes");
      }
      environment_.node_memory = *read;
    }
  }

  void read_memory() {
    const std::string value = value_of("TUTTI_MEMORY");
    if (value.empty()) return;
    const Result<Bytes> read = value == "none" ? Result<Bytes>(0) : bytes_from(value);
    if (!read || (*read < min_staging && value != "none")) {
      return refuse("TUTTI_MEMORY", value, "expected none, or at least 1K bytes");
    }
    environment_.memory = *read;
  }

  void read_exploration() {
    const std::string value = value_of("TUTTI_EXPLORE");
    if (value.empty()) return;
    double read = -1;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, read);
    if (error != std::errc() || rest != end || !(read >= 0 && read <= 1)) {
      return refuse("TUTTI_EXPLORE", value, "expected a number from 0 to 1");
    }
    environment_.explore = read;
  }

  /// Without learning nothing explores, as with TUTTI_EXPLORE=0.
  void read_learning() {
    const std::string value = value_of("TUTTI_LEARN");
    if (value.empty()) return;
    const Result<Learning> read = learning(value);
    if (!read) return refuse("TUTTI_LEARN", value, read.error());
    if (*read == Learning::off) environment_.explore = 0;
    environment_.keeps = *read == Learning::keep;
  }

  /// The file that was measured for this user, if there is one.
  static std::string cached_machine() {
    const std::string path = cache_file("machine");
    return access(path.c_str(), F_OK) == 0 ? path : "";
  }

  void read_machine() {
    const std::string given = value_of("TUTTI_MACHINE");
    if (given == "built-in") return;
    const std::string path = given.empty() ? cached_machine() : given;
    if (path.empty()) return;
    const Result<std::string> text = read_text_file(path, max_machine_bytes);
    const Result<Machines> machines =
        text ? machines_from_text(*text) : Result<Machines>(Error{text.error()});
    if (machines) {
      environment_.machine = machines->messages;
      environment_.node_machine = machines->nodes;
    } else if (given.empty()) {  // the default path, not a setting
      environment_.warnings.push_back("ignoring " + path +
                                      ", using the built-in machine: " + machines.error());
    } else {
      refuse("TUTTI_MACHINE", path,
             machines.error() + "; expected built-in or a file that tutti-bench machine wrote");
    }
  }

  void read_report() {
    environment_.report = value_of("TUTTI_REPORT");
    if (environment_.report == "none") environment_.report.clear();
    const std::string why = why_no_output(environment_.report);
    if (why.empty()) return;
    refuse("TUTTI_REPORT", environment_.report, why + "; expected none, - or a file name");
  }

  /// Off with a report: every call goes to the MPI, and is recorded.
  void record_only() {
    Environment native;
    native.report = environment_.report;
    native.verbose = environment_.verbose;
    native.nodes = environment_.nodes;
    native.warnings = environment_.warnings;
    native.error = environment_.error;
    native.rules = "none";
    native.explore = 0;
    for (const Collective collective : all_collectives) {
      if (is_one_sided(collective)) continue;
      native.settings[static_cast<std::size_t>(collective)] =
          Setting{Setting::Kind::native, {}, Level{}};
    }
    environment_ = native;
  }

  const Variables& variables_;
  Environment environment_;
};

}  // namespace

Environment read_settings(const Variables& variables) { return Reader(variables).read(); }

}  // namespace tutti
