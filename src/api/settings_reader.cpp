/// Reads the user's settings, without the environment of this process.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "api/environment.hpp"
#include "core/nodes.hpp"
#include "core/numbers.hpp"
#include "core/words.hpp"
#include "lowering/hierarchical.hpp"
#include "run/file.hpp"
#include "select/settings.hpp"

namespace tutti {

namespace {

constexpr Bytes min_staging = 1024;
constexpr Bytes min_node_memory = Bytes{64} << 10;
constexpr std::size_t max_machine_bytes = 65536;

Result<double> fraction(const std::string& value) {
  double read = -1;
  if (read_number(value, read) && read >= 0 && read <= 1) return read;
  return Error{"expected a number from 0 to 1"};
}

/// The text of emulated nodes; empty for none.
Result<std::string> nodes_from_value(const std::string& value) {
  if (value == "none") return std::string();
  const Result<EmulatedNodes> read = emulated_nodes(value);
  return read ? Result<std::string>(value) : Error{read.error()};
}

class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  Environment read() {
    read("TUTTI", environment_.on, switched);
    read("TUTTI_VERBOSE", environment_.verbose, switched);
    read("TUTTI_BACKGROUND", environment_.background, switched);
    read("TUTTI_REPRODUCIBLE", environment_.reproducible, switched);
    read("TUTTI_SPLIT_USER_OPS", environment_.split_user_ops, switched);
    environment_.distances = value_of("TUTTI_DISTANCES");
    if (environment_.distances == "none") environment_.distances.clear();
    environment_.rules = value_of("TUTTI_RULES");
    for (const Collective collective : all_collectives) read_algorithm(collective);
    read_level();
    read("TUTTI_NODE", environment_.nodes, nodes_from_value);
    read("TUTTI_NODE_MEMORY", environment_.node_memory, [](const std::string& value) {
      const Result<Bytes> read = bytes_from(value);
      const bool is_valid = read && *read >= min_node_memory && *read <= max_node_memory;
      return is_valid ? read : Error{"expected 64K to 1G bytes"};
    });
    read("TUTTI_MEMORY", environment_.memory, [](const std::string& value) {
      const Result<Bytes> read = value == "none" ? Result<Bytes>(0) : bytes_from(value);
      const bool is_valid = read && (*read >= min_staging || value == "none");
      return is_valid ? read : Error{"expected none, or at least 1K bytes"};
    });
    read("TUTTI_EXPLORE", environment_.explore, fraction);
    read_learning();
    check_cache_folder();
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

  /// Sets `field` to what `parse` makes of a setting; leaves it if the setting is not there.
  template <class Field, class Parse>
  void read(const std::string& name, Field& field, Parse parse) {
    const std::string value = value_of(name);
    if (value.empty()) return;
    const Result<Field> read = parse(value);
    if (!read) return refuse(name, value, read.error());
    field = *read;
  }

  void read_algorithm(Collective collective) {
    const auto parse = [&](const std::string& value) {
      const Result<Setting> read = setting(collective, value);
      if (!read) return read;
      const std::string why = why_unfit(
          *read, {.collective = collective, .has_distances = !environment_.distances.empty()});
      return why.empty() ? read : Error{why};
    };
    read(setting_name(collective), environment_.settings[collective], parse);
  }

  /// For collectives without their own setting.
  void read_level() {
    std::optional<Level> wanted;
    read("TUTTI_HIERARCHY", wanted, level);
    for (const Collective collective : all_collectives) {
      Setting& setting = environment_.settings[collective];
      const bool is_open = setting == Setting{} && can_be_hierarchical(collective);
      // The MPI's own reductions need not be reproducible.
      const bool is_fixed = environment_.reproducible && reduces(collective);
      if (!wanted || !is_open || is_fixed) continue;
      setting.level = wanted;
      if (wanted->hierarchical) setting.kind = Setting::Kind::native;
    }
  }

  /// Without learning nothing explores, as with TUTTI_EXPLORE=0.
  void read_learning() {
    std::string wanted = "run";
    read("TUTTI_LEARN", wanted, [](const std::string& value) -> Result<std::string> {
      if (value == "off" || value == "run" || value == "keep") return value;
      return Error{"expected off, run or keep" + did_you_mean(value, {"off", "run", "keep"})};
    });
    if (wanted == "off") environment_.explore = 0;
    environment_.keeps = wanted == "keep";
  }

  /// It exists, or is to be made in a folder that does. Else nothing is kept, without an error:
  /// the node of another communicator's rank 0 may have the folder.
  void check_cache_folder() {
    const std::string name = value_of("TUTTI_CACHE_DIR");
    if (name.empty() || !environment_.keeps) return;
    std::error_code none;
    // With an empty last part, whether or not the name ends with a slash.
    std::filesystem::path folder =
        std::filesystem::absolute(std::filesystem::path(name) / "", none);
    folder = folder.parent_path();
    if (!std::filesystem::exists(folder, none)) folder = folder.parent_path();
    if (std::filesystem::is_directory(folder, none)) return;
    environment_.keeps = false;
    environment_.warnings.push_back(
        "TUTTI_CACHE_DIR=" + name +
        " cannot be used, so nothing is kept: expected a folder, or one to be made in a folder");
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
    const Result<Machine> machine =
        text ? machine_from_text(*text) : Result<Machine>(Error{text.error()});
    if (machine) {
      environment_.machine = *machine;
    } else if (given.empty()) {  // the default path, not a setting
      environment_.warnings.push_back("ignoring " + path +
                                      ", using the built-in machine: " + machine.error());
    } else {
      refuse("TUTTI_MACHINE", path,
             machine.error() + "; expected built-in or a file that tutti-bench machine wrote");
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
      native.settings[collective] = flat_native;
    }
    environment_ = native;
  }

  const Variables& variables_;
  Environment environment_;
};

}  // namespace

Environment read_settings(const Variables& variables) { return Reader(variables).read(); }

}  // namespace tutti
