/// What Fortran programs pass, as C sees it.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

// Handles: an MPI error code, which is an error where they cannot be known (the standard ABI).

int comm_from_fortran(MPI_Fint handle, MPI_Comm& comm);
int type_from_fortran(MPI_Fint handle, MPI_Datatype& type);
int op_from_fortran(MPI_Fint handle, MPI_Op& op);
int window_from_fortran(MPI_Fint handle, MPI_Win& window);

/// The other way; only after one of the above has succeeded.
[[nodiscard]] MPI_Fint comm_to_fortran(MPI_Comm comm);

/// A buffer: MPI_IN_PLACE and MPI_BOTTOM of mpif.h and the modules are variables of their own.
[[nodiscard]] void* buffer_from_fortran(void* address);

}  // namespace tutti
