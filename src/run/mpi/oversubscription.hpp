/// Detects oversubscription: more ranks than processors on a node.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Ranks per processor, as far as this process knows; 0: unknown. Of the job's fullest node once
/// noted, before that a lower bound for this node: the launcher's count of ranks over all
/// processors that they could use. A binding does not count, because other ranks may be bound
/// elsewhere.
[[nodiscard]] double known_oversubscription();

/// Notes that of the job's fullest node.
void note_oversubscription(double ratio);

/// Does `comm` have the processes of MPI_COMM_WORLD? Local, equal on all ranks.
[[nodiscard]] bool is_of_world(MPI_Comm comm);

/// Is known_oversubscription() at most 1, and known? Before it is noted this is no proof that ranks
/// are bound to different cores.
[[nodiscard]] bool each_rank_has_a_core();

}  // namespace tutti
