/// The functions on arrivals for Fortran, with the symbols that its compilers on Linux give them.
#include <tutti/tutti.h>

#include "run/mpi_functions.hpp"

namespace {

/// The C value of a communicator; an error where it cannot be known (the standard ABI).
int find(MPI_Fint handle, MPI_Comm& comm) {
#if defined(OPEN_MPI)
  comm = tutti::mpi().Comm_f2c(handle);
  return MPI_SUCCESS;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  comm = MPI_Comm_f2c(handle);
  return MPI_SUCCESS;
#else
  static_cast<void>(handle);
  static_cast<void>(comm);
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void tutti_arrival_init_(const MPI_Fint* handle, const double* fraction, MPI_Fint* error) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = TUTTI_Arrival_init(comm, *fraction);
}

void tutti_arrival_edge_(const MPI_Fint* handle, MPI_Fint* error) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = TUTTI_Arrival_edge(comm);
}

void tutti_arrival_finalize_(const MPI_Fint* handle, MPI_Fint* error) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = TUTTI_Arrival_finalize(comm);
}
}
#pragma GCC visibility pop
