/// Translates ranks of communicators to world ranks, and keeps their nodes.
#include "run/node/mpi_known_nodes.hpp"

#include <mutex>
#include <numeric>

#include "run/mpi/oversubscription.hpp"

namespace tutti {

namespace {

/// The nodes that this process knows, by world rank.
struct World {
  std::mutex mutex;
  std::vector<int> labels;
  std::optional<EmulatedNodes> emulated;
  NodeSegment::Kind kind = NodeSegment::Kind::anonymous;
};

World& world() {
  static World* const the_world = new World;  // outlives every static destructor
  return *the_world;
}

/// The world rank of each rank of `comm`; MPI_UNDEFINED for ranks outside the world.
std::vector<Rank> ranks_in_world(MPI_Comm comm) {
  int p = 0;
  mpi().Comm_size(comm, &p);
  std::vector<Rank> ranks(static_cast<std::size_t>(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Rank> there(ranks.size(), MPI_UNDEFINED);
  MPI_Group own = mpi().group_null;
  MPI_Group all = mpi().group_null;
  if (mpi().Comm_group(comm, &own) == MPI_SUCCESS &&
      mpi().Comm_group(mpi().comm_world, &all) == MPI_SUCCESS) {
    mpi().Group_translate_ranks(own, p, ranks.data(), all, there.data());
  }
  if (own != mpi().group_null) mpi().Group_free(&own);
  if (all != mpi().group_null) mpi().Group_free(&all);
  return there;
}

}  // namespace

std::vector<int> known_labels(MPI_Comm comm, const NodeSettings& settings,
                              NodeSegment::Kind& kind) {
  World& known = world();
  const std::lock_guard lock(known.mutex);
  if (known.labels.empty() || known.emulated != settings.emulated) return {};
  std::vector<int> labels;
  for (const Rank rank : ranks_in_world(comm)) {
    if (rank == MPI_UNDEFINED) return {};
    labels.push_back(known.labels[static_cast<std::size_t>(rank)]);
  }
  kind = known.kind;
  return labels;
}

void note_nodes(MPI_Comm comm, const NodeSettings& settings, const Nodes& nodes,
                NodeSegment::Kind kind) {
  if (!is_of_world(comm)) return;
  const std::vector<Rank> there = ranks_in_world(comm);
  World& known = world();
  const std::lock_guard lock(known.mutex);
  known.labels.resize(there.size());
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    const Rank in_world = there[static_cast<std::size_t>(rank)];
    known.labels[static_cast<std::size_t>(in_world)] = nodes.node_of(rank);
  }
  known.emulated = settings.emulated;
  known.kind = kind;
}

}  // namespace tutti
