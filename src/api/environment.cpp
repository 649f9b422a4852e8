/// Reads the environment, reports what is wrong with it, and keeps the settings that overrule it.
#include "api/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "api/communicator.hpp"
#include "api/known.hpp"
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

struct Overrules {
  std::mutex mutex;
  PerCollective<std::optional<Setting>> settings;
  PerCollective<std::atomic<unsigned>> epochs{};  ///< see times_overruled
};

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

void overrule(Collective collective, const Setting& setting) {
  auto& all = of_process<Overrules>();
  const std::lock_guard lock(all.mutex);
  // An equal setting is no change: calls go on passing. Ranks set the same, so they compare alike.
  if (all.settings[collective] == setting) return;
  all.settings[collective] = setting;
  ++all.epochs[collective];
  Communicator::note_change();
}

std::optional<Setting> overrule_of(Collective collective) {
  auto& all = of_process<Overrules>();
  const std::lock_guard lock(all.mutex);
  return all.settings[collective];
}

unsigned times_overruled(Collective collective) {
  return of_process<Overrules>().epochs[collective].load(std::memory_order_acquire);
}

Setting setting_in_force(Collective collective) {
  return overrule_of(collective).value_or(environment().settings[collective]);
}

}  // namespace tutti
