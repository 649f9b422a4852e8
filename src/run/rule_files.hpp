/// Where rules files are looked for.
#pragma once

#include <string>
#include <vector>

namespace tutti {

struct RuleFile {
  std::string path;
  bool is_named = false;  ///< by TUTTI_RULES: it must exist and be valid
};

/// The rules files of this user, in the sequence in which their rules are tried: the one that
/// `setting` (the value of TUTTI_RULES) names; tutti/rules.json in XDG_CONFIG_HOME, or in ~/.config
/// if that is not set; the site's, share/tutti/rules.json beside the folder of the library or
/// beside that folder's parent. Files that are not named are listed only if they exist. None if
/// `setting` is "none".
[[nodiscard]] std::vector<RuleFile> rule_files(const std::string& setting,
                                               const std::string& library_folder);

}  // namespace tutti
