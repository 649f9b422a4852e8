/// The Fortran functions for arrivals, persistent forms, distances, shared results and one-sided
/// collectives, with the symbol names of the compilers on Linux.
#include "run/mpi/fortran.hpp"

#include <tutti/tutti.h>

#include <string>
#include <string_view>

#include "api/hooks.hpp"

namespace {

using tutti::buffer_from_fortran;
using tutti::comm_from_fortran;
using tutti::comm_to_fortran;
using tutti::op_from_fortran;
using tutti::type_from_fortran;
using tutti::window_from_fortran;

/// A Fortran text without its trailing blanks.
std::string text_of(const char* text, std::size_t length) {
  const std::string_view all(text, length);
  const std::size_t last = all.find_last_not_of(' ');
  return std::string(last == std::string_view::npos ? "" : all.substr(0, last + 1));
}

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are passed on as they are");
static_assert(sizeof(MPI_Aint) == sizeof(TUTTI_Request), "a request is an address");

/// A request is an integer of MPI_ADDRESS_KIND, 0 for none.
TUTTI_Request* request_of(MPI_Aint* request) { return reinterpret_cast<TUTTI_Request*>(request); }

// Call with the C handles of Fortran ones. Return an MPI error code, also if a handle cannot be
// converted.

template <class Call>
int with_comm(const MPI_Fint* handle, Call call) {
  MPI_Comm comm{};
  const int error = comm_from_fortran(*handle, comm);
  return error == MPI_SUCCESS ? call(comm) : error;
}

template <class Call>
int with_type(const MPI_Fint* handle, Call call) {
  MPI_Datatype type{};
  const int error = type_from_fortran(*handle, type);
  return error == MPI_SUCCESS ? call(type) : error;
}

/// The handles of a call with two sides. read() returns an MPI error code.
struct Handles {
  MPI_Comm comm{};
  MPI_Datatype send{};
  MPI_Datatype receive{};

  int read(MPI_Fint comm_handle, MPI_Fint send_handle, MPI_Fint receive_handle) {
    int error = comm_from_fortran(comm_handle, comm);
    if (error == MPI_SUCCESS) error = type_from_fortran(send_handle, send);
    if (error == MPI_SUCCESS) error = type_from_fortran(receive_handle, receive);
    return error;
  }
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void tutti_arrival_init_(const MPI_Fint* handle, const double* fraction, MPI_Fint* error) {
  *error = with_comm(handle, [&](MPI_Comm comm) { return TUTTI_Arrival_init(comm, *fraction); });
}

void tutti_arrival_edge_(const MPI_Fint* handle, MPI_Fint* error) {
  *error = with_comm(handle, TUTTI_Arrival_edge);
}

void tutti_arrival_finalize_(const MPI_Fint* handle, MPI_Fint* error) {
  *error = with_comm(handle, TUTTI_Arrival_finalize);
}

void tutti_distances_measure_(const MPI_Fint* handle, const char* file,
                              const MPI_Fint* nodes_per_switch, MPI_Fint* error,
                              std::size_t length) {
  const std::string path = text_of(file, length);
  *error = with_comm(handle, [&](MPI_Comm comm) {
    return TUTTI_Distances_measure(comm, path.empty() ? nullptr : path.c_str(), *nodes_per_switch);
  });
}

void tutti_comm_reorder_(const MPI_Fint* handle, const char* collective, MPI_Fint* made,
                         MPI_Fint* error, std::size_t length) {
  const std::string name = text_of(collective, length);
  MPI_Comm reordered = tutti::mpi().comm_null;
  *error = with_comm(handle, [&](MPI_Comm comm) {
    return TUTTI_Comm_reorder(comm, name.empty() ? nullptr : name.c_str(), &reordered);
  });
  *made = comm_to_fortran(reordered);
}

void tutti_allgather_shared_(void* send, const MPI_Fint* send_count, const MPI_Fint* send_type,
                             const MPI_Fint* receive_count, const MPI_Fint* receive_type,
                             const MPI_Fint* comm, const MPI_Fint* mode, void** result,
                             MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Allgather_shared(buffer_from_fortran(send), *send_count, handles.send,
                                  *receive_count, handles.receive, handles.comm, *mode, result);
}

void tutti_allgatherv_shared_(void* send, const MPI_Fint* send_count, const MPI_Fint* send_type,
                              const MPI_Fint* receive_counts, const MPI_Fint* receive_type,
                              const MPI_Fint* comm, const MPI_Fint* mode, void** result,
                              MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Allgatherv_shared(buffer_from_fortran(send), *send_count, handles.send,
                                   receive_counts, handles.receive, handles.comm, *mode, result);
}

void tutti_bcast_shared_(void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                         const MPI_Fint* root, const MPI_Fint* comm, const MPI_Fint* mode,
                         void** result, MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *datatype, *datatype);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Bcast_shared(buffer_from_fortran(buffer), *count, handles.send, *root,
                              handles.comm, *mode, result);
}

void tutti_allreduce_shared_(void* send, const MPI_Fint* count, const MPI_Fint* datatype,
                             const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* mode,
                             void** result, MPI_Fint* error) {
  MPI_Op own{};
  Handles handles;
  *error = op_from_fortran(*op, own);
  if (*error == MPI_SUCCESS) *error = handles.read(*comm, *datatype, *datatype);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Allreduce_shared(buffer_from_fortran(send), *count, handles.send, own,
                                  handles.comm, *mode, result);
}

void tutti_shared_free_(void** result, MPI_Fint* error) { *error = TUTTI_Shared_free(*result); }

void tutti_rma_init_(const MPI_Fint* handle, MPI_Fint* error) {
  *error = with_comm(handle, TUTTI_Rma_init);
}

void tutti_rma_finalize_(const MPI_Fint* handle, MPI_Fint* error) {
  *error = with_comm(handle, TUTTI_Rma_finalize);
}

void tutti_rma_window_register_(const MPI_Fint* win, const MPI_Fint* handle, MPI_Fint* window,
                                MPI_Fint* error) {
  MPI_Win own{};
  *error = window_from_fortran(*win, own);
  if (*error != MPI_SUCCESS) return;
  *error = with_comm(handle,
                     [&](MPI_Comm comm) { return TUTTI_Rma_window_register(own, comm, window); });
}

void tutti_rma_window_release_(MPI_Fint* window, MPI_Fint* error) {
  *error = TUTTI_Rma_window_release(window);
}

void tutti_rma_bcast_(const void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                      const MPI_Aint* displacement, const MPI_Fint* window, MPI_Fint* request,
                      MPI_Fint* error) {
  *error = with_type(datatype, [&](MPI_Datatype type) {
    return TUTTI_Rma_bcast(buffer, *count, type, *displacement, *window, request);
  });
}

void tutti_rma_scatter_(const void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                        const MPI_Aint* displacement, const MPI_Fint* window, MPI_Fint* request,
                        MPI_Fint* error) {
  *error = with_type(datatype, [&](MPI_Datatype type) {
    return TUTTI_Rma_scatter(buffer, *count, type, *displacement, *window, request);
  });
}

void tutti_rma_gather_(void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                       const MPI_Aint* displacement, const MPI_Fint* window, MPI_Fint* request,
                       MPI_Fint* error) {
  *error = with_type(datatype, [&](MPI_Datatype type) {
    return TUTTI_Rma_gather(buffer, *count, type, *displacement, *window, request);
  });
}

void tutti_rma_reduce_(void* buffer, const MPI_Fint* count, const MPI_Fint* datatype,
                       const MPI_Fint* op, const MPI_Aint* displacement, const MPI_Fint* window,
                       MPI_Fint* request, MPI_Fint* error) {
  MPI_Op own{};
  *error = op_from_fortran(*op, own);
  if (*error != MPI_SUCCESS) return;
  *error = with_type(datatype, [&](MPI_Datatype type) {
    return TUTTI_Rma_reduce(buffer, *count, type, own, *displacement, *window, request);
  });
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

void tutti_gather_init_(void* send, const MPI_Fint* send_count, const MPI_Fint* send_type,
                        void* receive, const MPI_Fint* receive_count, const MPI_Fint* receive_type,
                        const MPI_Fint* root, const MPI_Fint* comm, MPI_Aint* request,
                        MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Gather_init(buffer_from_fortran(send), *send_count, handles.send,
                             buffer_from_fortran(receive), *receive_count, handles.receive, *root,
                             handles.comm, request_of(request));
}

void tutti_gatherv_init_(void* send, const MPI_Fint* send_count, const MPI_Fint* send_type,
                         void* receive, const MPI_Fint* receive_counts,
                         const MPI_Fint* displacements, const MPI_Fint* receive_type,
                         const MPI_Fint* root, const MPI_Fint* comm, MPI_Aint* request,
                         MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Gatherv_init(buffer_from_fortran(send), *send_count, handles.send,
                              buffer_from_fortran(receive), receive_counts, displacements,
                              handles.receive, *root, handles.comm, request_of(request));
}

void tutti_scatter_init_(void* send, const MPI_Fint* send_count, const MPI_Fint* send_type,
                         void* receive, const MPI_Fint* receive_count, const MPI_Fint* receive_type,
                         const MPI_Fint* root, const MPI_Fint* comm, MPI_Aint* request,
                         MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Scatter_init(buffer_from_fortran(send), *send_count, handles.send,
                              buffer_from_fortran(receive), *receive_count, handles.receive, *root,
                              handles.comm, request_of(request));
}

void tutti_scatterv_init_(void* send, const MPI_Fint* send_counts, const MPI_Fint* displacements,
                          const MPI_Fint* send_type, void* receive, const MPI_Fint* receive_count,
                          const MPI_Fint* receive_type, const MPI_Fint* root, const MPI_Fint* comm,
                          MPI_Aint* request, MPI_Fint* error) {
  Handles handles;
  *error = handles.read(*comm, *send_type, *receive_type);
  if (*error != MPI_SUCCESS) return;
  *error = TUTTI_Scatterv_init(buffer_from_fortran(send), send_counts, displacements, handles.send,
                               buffer_from_fortran(receive), *receive_count, handles.receive, *root,
                               handles.comm, request_of(request));
}

void tutti_start_(MPI_Aint* request, MPI_Fint* error) { *error = TUTTI_Start(request_of(request)); }

void tutti_wait_(MPI_Aint* request, MPI_Fint* error) {
  tutti::set_call_site(__builtin_return_address(0));
  *error = TUTTI_Wait(request_of(request));
}

void tutti_request_free_(MPI_Aint* request, MPI_Fint* error) {
  *error = TUTTI_Request_free(request_of(request));
}
}
#pragma GCC visibility pop
