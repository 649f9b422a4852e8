/// Identifies a node by a hash of host and boot.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/hash.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/oversubscription.hpp"
#include "run/node/mpi_node.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

/// One rank's part of the exchange.
struct Entry {
  std::uint64_t system = 0;
  std::uint64_t node = 0;       ///< the system, or one of its emulated nodes
  double oversubscription = 0;  ///< as far as it knows
  RankProcessors processors;
};
static_assert(sizeof(Entry) == 56);

std::string own_system() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data() + (" " + line_of("/proc/sys/kernel/random/boot_id"));
}

}  // namespace

int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes) {
  static const std::string system = own_system();
  std::string node = system;
  if (settings.emulated) {
    node += " " + std::to_string(settings.emulated->node_of(world_rank(comm)));
  }
  const Entry mine = {hash_of(system), hash_of(node), known_oversubscription(), own_processors()};
  std::vector<Entry> all;
  if (const int error = gather_at_all(mine, all, comm)) return error;
  std::map<std::uint64_t, int> numbers;
  std::vector<int> labels;
  std::map<std::uint64_t, std::vector<RankProcessors>> systems;
  double oversubscription = 0;  // ranks per processor of the fullest node
  for (const Entry& one : all) {
    labels.push_back(numbers.try_emplace(one.node, static_cast<int>(numbers.size())).first->second);
    systems[one.system].push_back(one.processors);
    oversubscription = std::max(oversubscription, one.oversubscription);
  }
  nodes = Nodes::of(labels);
  for (const auto& [name, ranks] : systems) {
    oversubscription = std::max(oversubscription, oversubscription_of(ranks));
  }
  if (is_of_world(comm)) note_oversubscription(oversubscription);
  return MPI_SUCCESS;
}

}  // namespace tutti
