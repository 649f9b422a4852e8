/// Reads rules and links; collects and writes kept ones.
#include "api/known.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <utility>

#include "api/environment.hpp"
#include "api/kept_files.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"
#include "run/process.hpp"
#include "run/processors.hpp"
#include "topology/node_sets.hpp"

namespace tutti {

namespace {

constexpr KeptFile<Rules> rules_file = {kept_rules_name, max_kept_bytes, [](std::string_view text) {
                                          return rules_from_text(text, "");
                                        }};
constexpr KeptFile<std::vector<NodeSet>> links_file = {"distances.json", max_node_set_bytes,
                                                       node_sets_from_text};

/// What this process has learned.
struct Collected {
  std::mutex mutex;
  Rules rules;
  bool has_read_links = false;
  bool keeps_links = false;        ///< those that it measures
  std::vector<NodeSet> links;      ///< of earlier runs and of this one
  std::vector<NodeSet> own_links;  ///< of this one
};

/// The caller holds the lock.
void read_links(Collected& collected) {
  if (std::exchange(collected.has_read_links, true)) return;
  collected.keeps_links = keeps_rules();
  if (!environment().keeps) return;
  Result<std::vector<NodeSet>> kept = read_kept_file(links_file);
  if (kept) {
    collected.links = std::move(*kept);
  } else {
    std::fprintf(stderr, "tutti: %s\n", kept.error().c_str());
  }
}

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
  const Result<Rules> kept = environment().keeps ? read_kept_file(rules_file) : Rules{};
  if (kept) {
    known.kept = *kept;
  } else {
    known.warnings.push_back(kept.error());
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
  for (const Rule& rule : learned.all) learn(all.rules, rule);
}

NodeLinks known_links(const std::vector<std::string>& nodes) {
  Collected& all = of_process<Collected>();
  const std::lock_guard lock(all.mutex);
  read_links(all);
  return links_between(all.links, nodes);
}

void note_links(const std::vector<std::string>& nodes, const NodeLinks& measured) {
  Collected& all = of_process<Collected>();
  const std::lock_guard lock(all.mutex);
  const NodeSet set{nodes, measured, today()};
  add_set(all.links, set);
  if (all.keeps_links) add_set(all.own_links, set);
}

void write_kept() {
  Collected& all = of_process<Collected>();
  const std::lock_guard lock(all.mutex);
  if (!all.rules.all.empty()) {
    renew_kept_file(rules_file, [&](Rules kept) {
      return merged(std::move(kept), all.rules, platform(), today());
    });
  }
  if (!all.own_links.empty()) {
    renew_kept_file(links_file, [&](std::vector<NodeSet> kept) {
      for (const NodeSet& set : all.own_links) add_set(kept, set);
      return kept;
    });
  }
}

}  // namespace tutti
