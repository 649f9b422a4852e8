/// The two sets of collectives to compare: the MPI library's and Tutti's.
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

/// The MPI library's functions, looked up in the library itself, because a preloaded library may
/// redirect both MPI_X and PMPI_X. Null pointers if no MPI library is found.
[[nodiscard]] Functions native_functions();

/// Tutti's functions, called directly.
[[nodiscard]] Functions tutti_functions();

/// The functions that a program calls as MPI_X.
[[nodiscard]] Functions mpi_functions();

/// Whether another library intercepts MPI_Gatherv in this process.
[[nodiscard]] bool is_intercepted();

}  // namespace tutti::bench
