/// Reads files of rules; collects and writes kept ones.
#include "api/known_rules.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <mutex>

#include "api/environment.hpp"
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

std::string kept_path() { return cache_file("learned.json"); }

/// Emulated nodes are a network of their own.
Platform platform() {
  const std::string& nodes = environment().nodes;
  return {mpi_version(library_version()), nodes.empty() ? network_name() : "emulated " + nodes};
}

/// A file that does not exist has no rules.
Result<Rules> read_kept() {
  if (access(kept_path().c_str(), F_OK) != 0) return Rules{};
  const Result<std::string> text = read_text_file(kept_path(), max_kept_bytes);
  return text ? kept_from_text(*text, "") : Result<Rules>(Error{text.error()});
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
  const Result<Rules> kept = environment().keeps ? read_kept() : Rules{};
  if (kept) {
    known.kept = *kept;
  } else {
    known.warnings.push_back(kept_path() + " is ignored, and replaced at the end: " + kept.error());
  }
  return known;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 16> text{};
  localtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

void say_not_kept(const std::string& where, const std::string& why) {
  std::fprintf(stderr, "tutti: what this run learned is not kept: %s%s\n", where.c_str(),
               why.c_str());
}

}  // namespace

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
  const std::string path = kept_path();
  if (path.empty()) return say_not_kept(path, "neither XDG_CACHE_HOME nor HOME is set");
  const FileLock turn(path);
  const Result<Rules> others = read_kept();
  const Rules all = merged(others ? *others : Rules{}, collected.learned, platform(), today());
  const std::string why = replace_text_file(path, to_text(all));
  if (!why.empty()) say_not_kept(path + " ", why);
}

}  // namespace tutti
