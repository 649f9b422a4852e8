/// Ranks by the launcher, processors by the system.
#include "run/mpi/oversubscription.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "run/mpi/exchange.hpp"
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

}  // namespace

double known_oversubscription() {
  const double known = of_job.load(std::memory_order_relaxed);
  return known > 0 ? known : min_oversubscription();
}

void note_oversubscription(double ratio) { of_job = ratio; }

bool is_of_world(MPI_Comm comm) {
  if (!has_world()) return false;
  int compared = MPI_UNEQUAL;
  mpi().Comm_compare(comm, mpi().comm_world, &compared);
  return compared != MPI_UNEQUAL;
}

bool each_rank_has_a_core() {
  const double ratio = known_oversubscription();
  return 0 < ratio && ratio <= 1;
}

}  // namespace tutti
