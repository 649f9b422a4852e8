/// Reads the environment and reports what is wrong with it.
#include "api/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "api/distance_orders.hpp"
#include "api/known_rules.hpp"
#include "run/mpi/quirks.hpp"
#include "run/process.hpp"
#include "select/settings.hpp"

namespace tutti {

namespace {

/// The environment variables of this process whose names begin with TUTTI.
Variables own_variables() {
  Variables variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view assignment = *variable;
    const std::size_t end = assignment.find('=');
    if (!assignment.starts_with("TUTTI") || end == std::string_view::npos) continue;
    variables.emplace(assignment.substr(0, end), assignment.substr(end + 1));
  }
  return variables;
}

std::once_flag remarks_made;

/// Messages about all settings except the file of distances, which is read at first use.
std::string remarks() {
  const Environment& all = environment();
  std::string text = all.error.empty() ? "" : "tutti: " + all.error + "\n";
  for (const std::string& warning : all.warnings) text += "tutti: " + warning + "\n";
  if (!all.verbose) return text;
  text += "tutti " TUTTI_VERSION " with " + library_name() + ":";
  for (const Collective collective : all_collectives) {
    text += " " + std::string(name_of(collective)) + "=" + to_text(all.settings[collective]);
  }
  for (const auto& [name, value] : own_variables()) {
    const bool is_shown =
        std::ranges::find(all_collectives, name, setting_name) != all_collectives.end();
    if (!is_shown && name != "TUTTI_VERBOSE") text += " " + name + "=" + value;
  }
  return text + "\n";
}

/// Equal for equal settings. Files count by their names.
std::uint64_t remarks_number(const std::string& text) {
  return std::hash<std::string>()(text + environment().distances + environment().rules);
}

}  // namespace

const Environment& environment() {
  return of_process([] { return read_settings(own_variables()); });
}

std::uint64_t report_environment() {
  const std::string text = remarks();
  std::call_once(remarks_made, [&] {
    std::string files;
    if (environment().error.empty()) {
      for (const std::string& error : {distances_error(), known_rules().error}) {
        if (!error.empty()) files += "tutti: " + error + "\n";
      }
    }
    for (const std::string& warning : known_rules().warnings) files += "tutti: " + warning + "\n";
    std::fputs((files + text).c_str(), stderr);
  });
  return remarks_number(text);
}

void suppress_environment_report(std::uint64_t by_rank_0) {
  if (by_rank_0 != remarks_number(remarks())) return;
  std::call_once(remarks_made, [] {});
}

}  // namespace tutti
