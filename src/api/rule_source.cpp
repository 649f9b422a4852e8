/// Reading and merging rules files.
#include "api/rule_source.hpp"

#include <dlfcn.h>

#include "api/environment.hpp"
#include "run/file.hpp"
#include "run/rule_files.hpp"

namespace tutti {

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;

/// The folder of this library; empty if the loader does not know it.
std::string library_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<const void*>(&known_rules), &found) == 0) return "";
  const std::string path = found.dli_fname == nullptr ? "" : found.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

Result<Rules> read(const std::string& path) {
  const Result<std::string> text = read_text_file(path, max_bytes);
  if (!text) return Error{text.error() + "; tutti tune writes such a file"};
  const std::size_t slash = path.rfind('/');
  return rules_from_text(*text, slash == std::string::npos ? path : path.substr(slash + 1));
}

KnownRules read_all() {
  KnownRules known;
  for (const RuleFile& file : rule_files(environment().rules, library_folder())) {
    const Result<Rules> rules = read(file.path);
    if (rules) {
      known.rules.all.insert(known.rules.all.end(), rules->all.begin(), rules->all.end());
    } else if (file.is_named) {
      known.error = "invalid TUTTI_RULES=" + file.path + ": " + rules.error();
    } else {
      known.warnings.push_back(file.path + " is ignored: " + rules.error());
    }
  }
  return known;
}

}  // namespace

const KnownRules& known_rules() {
  static const auto* const known = new KnownRules(read_all());  // outlives static destructors
  return *known;
}

}  // namespace tutti
