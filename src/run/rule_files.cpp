/// Where rules files are looked for.
#include "run/rule_files.hpp"

#include <unistd.h>

#include "run/file.hpp"

namespace tutti {

namespace {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

std::vector<RuleFile> rule_files(const std::string& setting, const std::string& library_folder) {
  std::vector<RuleFile> files;
  if (setting == "none") return files;
  if (!setting.empty()) files.push_back({setting, true});
  const std::string users = user_file("XDG_CONFIG_HOME", "/.config", "rules.json");
  if (exists(users)) files.push_back({users});
  if (library_folder.empty()) return files;
  for (const char* const up : {"/..", "/../.."}) {
    const std::string sites = library_folder + up + "/share/tutti/rules.json";
    if (!exists(sites)) continue;
    files.push_back({sites});
    break;
  }
  return files;
}

}  // namespace tutti
