/// The functions on arrivals, distances and one-sided collectives for Fortran, with the
/// symbols that its compilers on Linux give them.
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

int find_window(MPI_Fint handle, MPI_Win& window) {
#if defined(OPEN_MPI)
  window = tutti::mpi().Win_f2c(handle);
  return MPI_SUCCESS;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  window = MPI_Win_f2c(handle);
  return MPI_SUCCESS;
#else
  static_cast<void>(handle);
  static_cast<void>(window);
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

int find_type(MPI_Fint handle, MPI_Datatype& type) {
#if defined(OPEN_MPI)
  type = tutti::mpi().Type_f2c(handle);
  return MPI_SUCCESS;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  type = MPI_Type_f2c(handle);
  return MPI_SUCCESS;
#else
  static_cast<void>(handle);
  static_cast<void>(type);
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

void tutti_rma_init_(const MPI_Fint* handle, MPI_Fint* error) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = TUTTI_Rma_init(comm);
}

void tutti_rma_finalize_(const MPI_Fint* handle, MPI_Fint* error) {
  MPI_Comm comm{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = TUTTI_Rma_finalize(comm);
}

void tutti_rma_window_register_(const MPI_Fint* win, const MPI_Fint* handle, MPI_Fint* window,
                                MPI_Fint* error) {
  MPI_Comm comm{};
  MPI_Win own{};
  *error = find(*handle, comm);
  if (*error == MPI_SUCCESS) *error = find_window(*win, own);
  if (*error == MPI_SUCCESS) *error = TUTTI_Rma_window_register(own, comm, window);
}

void tutti_rma_window_release_(MPI_Fint* window, MPI_Fint* error) {
  *error = TUTTI_Rma_window_release(window);
}

void tutti_rma_bcast_(const void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                      const MPI_Aint* displacement, const MPI_Fint* window, MPI_Fint* request,
                      MPI_Fint* error) {
  MPI_Datatype type{};
  *error = find_type(*datatype, type);
  if (*error == MPI_SUCCESS) {
    *error = TUTTI_Rma_bcast(buffer, *count, type, *displacement, *window, request);
  }
}

void tutti_rma_flush_(MPI_Fint* request, MPI_Fint* error) { *error = TUTTI_Rma_flush(request); }

void tutti_rma_test_(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* error) {
  *error = TUTTI_Rma_test(request, flag);
}

void tutti_rma_arrived_(const MPI_Fint* window, const MPI_Fint* root, long long* number,
                        MPI_Fint* error) {
  *error = TUTTI_Rma_arrived(*window, *root, number);
}

void tutti_rma_wait_(const MPI_Fint* window, const MPI_Fint* root, const long long* number,
                     MPI_Fint* error) {
  *error = TUTTI_Rma_wait(*window, *root, *number);
}
}
#pragma GCC visibility pop
