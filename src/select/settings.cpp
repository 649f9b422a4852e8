/// The table of settings.
#include "select/settings.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/words.hpp"

namespace tutti {

namespace {

/// In no locale: Turkish has other capitals.
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Names the functions of MPI, or that of Tutti's C API for a collective that MPI does not have.
std::string meaning_of(Collective collective) {
  std::string text;
#define TUTTI_FUNCTION(name, function, number, parameters) \
  if (collective == Collective::name)                      \
    text += (text.empty() ? "algorithm for " : " and ") + std::string("MPI_" #function);
#include "core/collectives.inc"
  if (!text.empty()) return text;
  std::string name(name_of(collective));
  name.front() = upper(name.front());
  return "algorithm for TUTTI_" + name + "; the root's value applies";
}

// The collectives that these call.
constexpr auto all_ranks = matched_collectives;
constexpr auto root_alone = one_sided_collectives;

/// All lines of settings.inc, with those of the collectives in their place.
std::vector<SettingInfo> listed() {
  std::vector<SettingInfo> lines;
#define TUTTI_SETTING(name, by_default, accepted, meaning) \
  lines.push_back({name, by_default, accepted, meaning});
#define TUTTI_SETTINGS_OF(callers, by_default, accepted)                                       \
  for (const Collective collective : callers) {                                                \
    lines.push_back({setting_name(collective), by_default, accepted, meaning_of(collective)}); \
  }
#define TUTTI_FORMER_SETTING(name) lines.back().former = name;
#include "select/settings.inc"
#undef TUTTI_SETTING
#undef TUTTI_SETTINGS_OF
#undef TUTTI_FORMER_SETTING
  return lines;
}

}  // namespace

std::string setting_name(Collective collective) {
  std::string name = "TUTTI_" + std::string(name_of(collective));
  for (char& c : name) c = upper(c);
  return name;
}

std::span<const SettingInfo> all_settings() {
  static const std::vector<SettingInfo> lines = listed();
  return lines;
}

std::string_view former_name_of(std::string_view name) {
  const auto found = std::ranges::find(all_settings(), name, &SettingInfo::name);
  return found == all_settings().end() ? std::string_view() : found->former;
}

bool is_setting(std::string_view name) {
  constexpr std::string_view read_elsewhere[] = {"TUTTI_LIBRARY_DIR", "TUTTI_LIBRARY",
                                                 "TUTTI_BENCH_MPI"};
  const auto is_it = [name](const SettingInfo& setting) {
    return setting.name == name || setting.former == name;
  };
  return std::ranges::find(read_elsewhere, name) != std::end(read_elsewhere) ||
         std::ranges::any_of(all_settings(), is_it);
}

Result<bool> switched(std::string_view text) {
  for (const std::string_view on : {"on", "1", "true", "yes"}) {
    if (same_name(text, on)) return true;
  }
  for (const std::string_view off : {"off", "0", "false", "no"}) {
    if (same_name(text, off)) return false;
  }
  return Error{"expected on, 1, true, yes or off, 0, false, no" +
               did_you_mean(text, {"on", "off", "true", "false", "yes"})};
}

std::string unknown_setting(std::string_view name) {
  std::vector<std::string_view> known;
  for (const SettingInfo& setting : all_settings()) known.push_back(setting.name);
  return "unknown setting " + std::string(name) + did_you_mean(name, known) + " (list: tutti info)";
}

}  // namespace tutti
