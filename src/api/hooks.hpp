/// What the drop-in front tells the library about a call.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// The functions that stand for the MPI's own: those of the next tool in line where there is
/// one, else the MPI's PMPI_ functions.
#define TUTTI_NATIVE_ALL(X) \
  X(Gather)                 \
  X(Gatherv)                \
  X(Scatter)                \
  X(Scatterv)               \
  X(Allgather)              \
  X(Allgatherv)             \
  X(Alltoall)               \
  X(Alltoallv)              \
  X(Alltoallw)              \
  X(Bcast)                  \
  X(Barrier)                \
  X(Reduce)                 \
  X(Allreduce)              \
  X(Reduce_scatter)         \
  X(Reduce_scatter_block)   \
  X(Finalize)               \
  X(Win_free)               \
  X(Comm_free)              \
  X(Comm_disconnect)
struct NativeFunctions {
#define TUTTI_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  TUTTI_NATIVE_ALL(TUTTI_MEMBER)
#undef TUTTI_MEMBER
};
[[nodiscard]] NativeFunctions& next_functions();

/// The return address of the call under way, set by the front; null for direct calls.
void set_call_site(const void* site);
[[nodiscard]] const void* take_call_site();

/// Notes some address in the front, where the program's calls of MPI_Finalize go.
void set_front(const void* address);

/// Notes that MPI ends: nothing is begun any more that has to be ended before it.
void note_end();

/// MPI_Finalize of the next tool in line or the MPI, after all that Tutti has to do before.
int finalize_mpi();

/// The same of MPI_Win_free.
int free_window(MPI_Win* window);

/// MPI_Comm_free and MPI_Comm_disconnect of the next tool in line or the MPI, while which Tutti has
/// no part in the calls that functions of attributes make on that communicator.
int free_comm(MPI_Comm* comm);
int disconnect_comm(MPI_Comm* comm);

}  // namespace tutti
