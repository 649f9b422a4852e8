/// Collects links, and reads and writes distances.json of the cache folder.
#include "api/known_links.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

#include "api/environment.hpp"
#include "api/kept_files.hpp"
#include "api/known_rules.hpp"
#include "run/process.hpp"
#include "topology/node_sets.hpp"

namespace tutti {

namespace {

constexpr KeptFile links_file = {"distances.json", max_node_set_bytes};

struct KnownLinks {
  std::mutex mutex;
  bool has_read = false;
  bool keeps = false;        ///< what it measures
  std::vector<NodeSet> all;  ///< of earlier runs and of this one
  std::vector<NodeSet> own;  ///< of this run
};

Result<std::vector<NodeSet>> sets_from(const Result<std::string>& text) {
  if (!text) return Error{text.error()};
  return text->empty() ? std::vector<NodeSet>() : node_sets_from_text(*text);
}

/// The caller holds the lock.
void read_kept_links(KnownLinks& known) {
  if (std::exchange(known.has_read, true)) return;
  known.keeps = keeps_rules();
  if (!environment().keeps) return;
  Result<std::vector<NodeSet>> kept = sets_from(read_kept_file(links_file));
  if (kept) {
    known.all = std::move(*kept);
  } else {
    std::fprintf(stderr, "tutti: %s\n", why_ignored(links_file, kept.error()).c_str());
  }
}

}  // namespace

NodeLinks known_links(const std::vector<std::string>& nodes) {
  KnownLinks& known = of_process<KnownLinks>();
  const std::lock_guard lock(known.mutex);
  read_kept_links(known);
  return links_between(known.all, nodes);
}

void note_links(const std::vector<std::string>& nodes, const NodeLinks& measured) {
  KnownLinks& known = of_process<KnownLinks>();
  const std::lock_guard lock(known.mutex);
  const NodeSet set{nodes, measured, today()};
  add_set(known.all, set);
  if (known.keeps) add_set(known.own, set);
}

void write_kept_links() {
  KnownLinks& known = of_process<KnownLinks>();
  const std::lock_guard lock(known.mutex);
  if (known.own.empty()) return;
  renew_kept_file(links_file, [&](const Result<std::string>& former) {
    Result<std::vector<NodeSet>> sets = sets_from(former);
    std::vector<NodeSet> all = sets ? std::move(*sets) : std::vector<NodeSet>();
    for (const NodeSet& set : known.own) add_set(all, set);
    return to_text(all);
  });
}

}  // namespace tutti
