/// Reads files of rules; collects and writes kept ones.
#include "api/known_rules.hpp"

#include <dlfcn.h>

#include <mutex>

#include "api/environment.hpp"
#include "api/kept_files.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"
#include "run/process.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

struct Collected {
  std::mutex mutex;
  Rules learned;
};

/// The folder of this library; empty if the loader does not know it.
std::string library_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<const void*>(&known_rules), &found) == 0) return "";
  const std::string path = found.dli_fname == nullptr ? "" : found.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// The rules of a file, cited by its name.
Result<Rules> read_rules(const std::string& path) {
  const Result<std::string> text = read_text_file(path, max_rules_bytes);
  if (!text) return Error{text.error() + "; tutti tune writes such a file"};
  return rules_from_text(*text, path.substr(path.rfind('/') + 1));
}

constexpr KeptFile kept_rules_file = {kept_rules_name, max_kept_bytes};

/// A file that does not exist has no rules.
Result<Rules> kept_from(const Result<std::string>& text) {
  if (!text) return Error{text.error()};
  return text->empty() ? Rules{} : rules_from_text(*text, "");
}

KnownRules read_all() {
  KnownRules known;
  for (const RuleFile& file : rule_files(environment().rules, library_folder())) {
    const Result<Rules> rules = read_rules(file.path);
    if (rules) {
      known.rules.all.insert(known.rules.all.end(), rules->all.begin(), rules->all.end());
    } else if (file.is_named) {
      known.error = "invalid TUTTI_RULES=" + file.path + ": " + rules.error();
    } else {
      known.warnings.push_back(file.path + " is ignored: " + rules.error());
    }
  }
  const Result<Rules> kept =
      environment().keeps ? kept_from(read_kept_file(kept_rules_file)) : Rules{};
  if (kept) {
    known.kept = *kept;
  } else {
    known.warnings.push_back(why_ignored(kept_rules_file, kept.error()));
  }
  return known;
}

}  // namespace

const Platform& platform() {
  return of_process([] {
    return Platform{mpi_version(library_version()), network_name(environment().nodes)};
  });
}

const KnownRules& known_rules() {
  return of_process([] { return read_all(); });
}

std::string kept_rules(int p) {
  if (p == 1 || known_rules().kept.all.empty()) return "";
  const Rules rules = kept_for(known_rules().kept, p, platform());
  return rules.all.empty() ? "" : to_text(rules);
}

bool keeps_rules() { return environment().keeps && has_world() && rank_in(mpi().comm_world) == 0; }

void note_learned(const Rules& learned) {
  Collected& all = of_process<Collected>();
  const std::lock_guard lock(all.mutex);
  for (const Rule& rule : learned.all) learn(all.learned, rule);
}

void write_kept_rules() {
  Collected& collected = of_process<Collected>();
  const std::lock_guard lock(collected.mutex);
  if (collected.learned.all.empty()) return;
  renew_kept_file(kept_rules_file, [&](const Result<std::string>& former) {
    const Result<Rules> others = kept_from(former);
    return to_text(merged(others ? *others : Rules{}, collected.learned, platform(), today()));
  });
}

}  // namespace tutti
