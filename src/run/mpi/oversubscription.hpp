/// Detects oversubscription: more ranks than processors on a node.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Ranks per processor.
struct Oversubscription {
  double ratio = 0;          ///< 0: unknown
  bool is_complete = false;  ///< from all ranks of the job: of the fullest node
};

/// What this process knows: the job's oversubscription after learn_oversubscription(), before that
/// a lower bound for its node. The bound is the launcher's count of ranks over all processors that
/// they could use; a binding does not count, because other ranks may be bound elsewhere.
[[nodiscard]] Oversubscription known_oversubscription();

/// Exchanges what all ranks of MPI_COMM_WORLD may run on, over `comm`, a communicator of all of
/// them. Afterwards known_oversubscription() is equal on all ranks. Collective. Returns an MPI
/// error code.
int learn_oversubscription(MPI_Comm comm);

/// Does `comm` have the processes of MPI_COMM_WORLD? Local, equal on all ranks.
[[nodiscard]] bool is_of_world(MPI_Comm comm);

/// Is known_oversubscription() at most 1, and known? Before learn_oversubscription() this is no
/// proof that ranks are bound to different cores.
[[nodiscard]] bool each_rank_has_a_core();

}  // namespace tutti
