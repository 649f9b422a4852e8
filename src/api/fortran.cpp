/// The functions on arrivals and distances for Fortran, with the symbols that its compilers on
/// Linux give them.
#include <tutti/tutti.h>

#include <string>
#include <string_view>

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

/// The other way; only after `find` has succeeded.
MPI_Fint handle_of(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return tutti::mpi().Comm_c2f(comm);
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  return MPI_Comm_c2f(comm);
#else
  static_cast<void>(comm);
  return 0;
#endif
}

/// A Fortran text without the blanks that fill it.
std::string text_of(const char* text, std::size_t length) {
  const std::string_view all(text, length);
  const std::size_t last = all.find_last_not_of(' ');
  return std::string(last == std::string_view::npos ? "" : all.substr(0, last + 1));
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

void tutti_distances_measure_(const MPI_Fint* handle, const char* file,
                              const MPI_Fint* nodes_per_switch, MPI_Fint* error,
                              std::size_t length) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error != MPI_SUCCESS) return;
  const std::string path = text_of(file, length);
  *error = TUTTI_Distances_measure(comm, path.empty() ? nullptr : path.c_str(), *nodes_per_switch);
}

void tutti_comm_reorder_(const MPI_Fint* handle, const char* collective, MPI_Fint* made,
                         MPI_Fint* error, std::size_t length) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error != MPI_SUCCESS) return;
  const std::string name = text_of(collective, length);
  MPI_Comm reordered{};
  *error = TUTTI_Comm_reorder(comm, name.empty() ? nullptr : name.c_str(), &reordered);
  if (*error == MPI_SUCCESS) *made = handle_of(reordered);
}
}
#pragma GCC visibility pop
