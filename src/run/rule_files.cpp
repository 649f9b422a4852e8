/// Where rules files are looked for.
#include "run/rule_files.hpp"

#include <filesystem>
#include <system_error>

#include "run/file.hpp"

namespace tutti {

std::vector<RuleFile> rule_files(const std::string& setting, const std::string& library_folder) {
  std::vector<RuleFile> files;
  if (setting == "none") return files;
  if (!setting.empty()) files.push_back({setting, true});
  std::error_code none;
  const std::string users = user_file("XDG_CONFIG_HOME", "/.config", "rules.json");
  if (std::filesystem::exists(users, none)) files.push_back({users});
  if (library_folder.empty()) return files;
  for (const char* const up : {"/..", "/../.."}) {
    const std::string sites = library_folder + up + "/share/tutti/rules.json";
    if (!std::filesystem::exists(sites, none)) continue;
    files.push_back({sites});
    break;
  }
  return files;
}

}  // namespace tutti
