/// The two sets of collectives to compare: the MPI library's and Tutti's.
#pragma once

#include <mpi.h>

#include <vector>

#include "run/call/mpi_apply.hpp"

namespace tutti::bench {

/// The functions of a library by MPI's names.
struct Functions {
#define TUTTI_FUNCTION(collective, name, number, parameters) decltype(&MPI_##name) name = nullptr;
#include "core/collectives.inc"
};

/// A side of a call: the first count, or in an irregular collective all counts. A function that
/// takes one count there takes the first.
[[nodiscard]] CallSide side_of(Collective collective, void* address, MPI_Datatype type,
                               const std::vector<int>& counts,
                               const std::vector<int>& displacements);

/// The MPI library's functions, looked up in the library itself, because a preloaded library may
/// redirect both MPI_X and PMPI_X. Null pointers if no MPI library is found.
[[nodiscard]] Functions native_functions();

/// Tutti's functions, called directly.
[[nodiscard]] Functions tutti_functions();

/// The functions that a program calls as MPI_X.
[[nodiscard]] Functions mpi_functions();

/// Those through which a program reaches Tutti: MPI_X where it is preloaded, else TUTTI_X.
[[nodiscard]] Functions program_functions();

/// Whether Tutti is preloaded, so that MPI_X are its functions, or those of a tool before it.
[[nodiscard]] bool is_preloaded();

/// Whether another library intercepts MPI_Gatherv in this process.
[[nodiscard]] bool is_intercepted();

}  // namespace tutti::bench
