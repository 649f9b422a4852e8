/// Checks whether the MPI allows a background thread.
#include "run/mpi/thread.hpp"

#include "run/background.hpp"
#include "run/mpi/end.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

bool start_thread() {
  if (!can_end_threads()) return false;
  int level = MPI_THREAD_SINGLE;
  mpi().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE && Background::of_process().start();
}

}  // namespace tutti
