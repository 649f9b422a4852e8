/// Converts the arguments of Fortran programs to C.
#pragma once

#include "run/mpi/functions.hpp"

#if !defined(OPEN_MPI) && !defined(MPICH_VERSION) && !defined(I_MPI_VERSION)
/// INTEGER of Fortran, which headers of the standard ABI need not declare.
using MPI_Fint = int;
#endif

namespace tutti {

// Handles. Each returns an MPI error code, also if handles cannot be converted (the standard ABI).

int comm_from_fortran(MPI_Fint handle, MPI_Comm& comm);
int type_from_fortran(MPI_Fint handle, MPI_Datatype& type);
int op_from_fortran(MPI_Fint handle, MPI_Op& op);
int window_from_fortran(MPI_Fint handle, MPI_Win& window);

/// The inverse; only after one of the above has succeeded.
[[nodiscard]] MPI_Fint comm_to_fortran(MPI_Comm comm);

/// Converts a buffer: in mpif.h and the modules, MPI_IN_PLACE and MPI_BOTTOM are variables of their
/// own.
[[nodiscard]] void* buffer_from_fortran(void* address);

}  // namespace tutti
