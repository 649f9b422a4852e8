/// Counts the ranks and processors of nodes.
#include "run/mpi/oversubscription.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "run/processors.hpp"

namespace tutti {

namespace {

/// The oversubscription of the job; 0 until known.
std::atomic<double> of_job{0};

/// The ranks on this node by variables of the launcher (Hydra, Open MPI); 0 if it sets none.
long launched_ranks() {
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    if (const char* ranks = std::getenv(name)) return std::max(0L, std::atol(ranks));
  }
  return 0;
}

double min_oversubscription() {
  static const double ratio =
      static_cast<double>(launched_ranks()) / reachable_processors(processor_quota("/"));
  return ratio;
}

/// Sets `ratio` for the node whose ranks are those of `node`.
int oversubscription_of_node(MPI_Comm node, double& ratio) {
  int ranks = 0;
  mpi().Comm_size(node, &ranks);
  const ProcessorView own = own_processors();
  std::vector<ProcessorView> views(static_cast<std::size_t>(ranks));
  const int error =
      mpi().Allgather(&own, sizeof own, mpi().byte, views.data(), sizeof own, mpi().byte, node);
  if (error == MPI_SUCCESS) ratio = oversubscription_of(views);
  return error;
}

}  // namespace

Oversubscription known_oversubscription() {
  const double known = of_job.load(std::memory_order_relaxed);
  return known > 0 ? Oversubscription{known, true}
                   : Oversubscription{min_oversubscription(), false};
}

int learn_oversubscription(MPI_Comm comm) {
  MPI_Comm node = mpi().comm_null;
  int error = mpi().Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, mpi().info_null, &node);
  if (error != MPI_SUCCESS) return error;
  double own = 0;
  error = oversubscription_of_node(node, own);
  mpi().Comm_free(&node);
  if (error != MPI_SUCCESS) return error;
  // Doubles that are not negative compare like their bits.
  const auto mine = std::bit_cast<std::int64_t>(own);
  std::int64_t most = 0;
  error = mpi().Allreduce(&mine, &most, 1, mpi().int64, mpi().combining[0], comm);
  if (error != MPI_SUCCESS) return error;
  of_job = std::bit_cast<double>(most);
  return MPI_SUCCESS;
}

bool is_of_world(MPI_Comm comm) {
  int initialized = 0;
  mpi().Initialized(&initialized);
  // Programs that use sessions alone have no MPI_COMM_WORLD.
  if (initialized == 0) return false;
  int compared = MPI_UNEQUAL;
  mpi().Comm_compare(comm, mpi().comm_world, &compared);
  return compared != MPI_UNEQUAL;
}

bool each_rank_has_a_core() {
  const double ratio = known_oversubscription().ratio;
  return 0 < ratio && ratio <= 1;
}

}  // namespace tutti
