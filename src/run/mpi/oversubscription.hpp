/// Whether the ranks of a node have a processor each.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Ranks to each processor.
struct Oversubscription {
  double ratio = 0;          ///< 0: not known
  bool is_complete = false;  ///< told by all ranks of the job: of the fullest node
};

/// What this process knows: of the job once learn_oversubscription() has been called, before that
/// what is sure of its node. That is the launcher's count of ranks against all processors that they
/// could possibly have; a binding alone tells nothing, as the others may be bound elsewhere.
[[nodiscard]] Oversubscription known_oversubscription();

/// Has all ranks of MPI_COMM_WORLD, of which `comm` is a communicator, tell what they may run on.
/// Collective. Returns an MPI error code. Afterwards known_oversubscription() is alike on all of
/// them.
int learn_oversubscription(MPI_Comm comm);

/// Are the processes of `comm` those of MPI_COMM_WORLD? Local, alike on all ranks.
[[nodiscard]] bool is_of_world(MPI_Comm comm);

/// Every node is known to have at least as many processors as ranks.
[[nodiscard]] bool each_rank_has_a_core();

}  // namespace tutti
