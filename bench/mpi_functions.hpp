/// The two sets of collectives that are compared: the MPI library's and Tutti's.
#pragma once

#include <mpi.h>

namespace tutti::bench {

struct Functions {
  decltype(&MPI_Gather) gather = nullptr;
  decltype(&MPI_Gatherv) gatherv = nullptr;
  decltype(&MPI_Scatter) scatter = nullptr;
  decltype(&MPI_Scatterv) scatterv = nullptr;
  decltype(&MPI_Bcast) bcast = nullptr;
  decltype(&MPI_Allgather) allgather = nullptr;
  decltype(&MPI_Allgatherv) allgatherv = nullptr;
  decltype(&MPI_Alltoall) alltoall = nullptr;
  decltype(&MPI_Alltoallv) alltoallv = nullptr;
  decltype(&MPI_Barrier) barrier = nullptr;
  decltype(&MPI_Reduce) reduce = nullptr;
  decltype(&MPI_Allreduce) allreduce = nullptr;
  decltype(&MPI_Reduce_scatter) reduce_scatter = nullptr;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block = nullptr;
};

/// The MPI library's own, taken from the library itself: neither MPI_X nor PMPI_X may be trusted
/// to lead there when something is preloaded. Null pointers if no MPI library is found.
[[nodiscard]] Functions native_functions();

/// Tutti's, called directly.
[[nodiscard]] Functions tutti_functions();

/// What a program reaches by MPI_X.
[[nodiscard]] Functions mpi_functions();

/// Whether a call of MPI_Gatherv in this process reaches something before the MPI library.
[[nodiscard]] bool is_intercepted();

}  // namespace tutti::bench
