/// What SimGrid's MPI lacks or answers wrongly, and Tutti needs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "simgrid/behind.hpp"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

using tutti::simgrid::behind;

/// A simulated rank has no threads.
TUTTI_EXPORT int PMPI_Query_thread(int* provided) {
  *provided = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}

/// SimGrid reports null at a rank that has set no handler of the world where another rank has.
TUTTI_EXPORT int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  static const auto get = behind<decltype(&PMPI_Comm_get_errhandler)>("PMPI_Comm_get_errhandler");
  const int error = get(comm, handler);
  if (error == MPI_SUCCESS && *handler == MPI_ERRHANDLER_NULL) *handler = MPI_ERRORS_ARE_FATAL;
  return error;
}

TUTTI_EXPORT int PMPI_Errhandler_free(MPI_Errhandler* handler) {
  static const auto release = behind<decltype(&PMPI_Errhandler_free)>("PMPI_Errhandler_free");
  if (*handler != MPI_ERRORS_RETURN && *handler != MPI_ERRORS_ARE_FATAL) return release(handler);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

/// All ranks are in one process. SimGrid's ends them one after the other, reports a deadlock of the
/// last ones, and returns status 0. A status has 8 bits, and 0 is success: errors of which they
/// leave nothing return 1.
TUTTI_EXPORT int PMPI_Abort(MPI_Comm, int code) {
  std::fflush(nullptr);
  const int status = code & 0xFF;
  _exit(status != 0 ? status : EXIT_FAILURE);
}

/// SimGrid calls the function of every handler, and its predefined ones have none.
TUTTI_EXPORT int PMPI_Comm_call_errhandler(MPI_Comm comm, int code) {
  static const auto call =
      behind<decltype(&PMPI_Comm_call_errhandler)>("PMPI_Comm_call_errhandler");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (const int error = PMPI_Comm_get_errhandler(comm, &handler)) return error;
  const bool returns = handler == MPI_ERRORS_RETURN;
  const bool is_fatal = handler == MPI_ERRORS_ARE_FATAL;
  PMPI_Errhandler_free(&handler);
  if (returns) return MPI_SUCCESS;
  if (!is_fatal) return call(comm, code);
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  std::fprintf(stderr, "tutti: an error is fatal to the program: %s\n", text.data());
  return PMPI_Abort(comm, code);
}

/// SimGrid's needs p messages at each rank, and time O(p^2) to match them. So the blocking form
/// stands for it. Where Tutti would wait for the result only in a later call, to agree on what
/// candidates took, early ranks wait here for late ones, and the tuner counts that as a cost of
/// exploring.
TUTTI_EXPORT int PMPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  static const auto start = behind<decltype(&PMPI_Iallreduce)>("PMPI_Iallreduce");
  if (tutti::simgrid::is_in_simgrid(__builtin_return_address(0))) {
    return start(send, receive, count, type, op, comm, request);
  }
  *request = MPI_REQUEST_NULL;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

// SimGrid's algorithms divide by the number of elements.

namespace {

/// Whether a call moves nothing, and cannot fail.
bool is_empty(int count, MPI_Comm comm) { return count == 0 && comm != MPI_COMM_NULL; }

}  // namespace

TUTTI_EXPORT int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static const auto bcast = behind<decltype(&PMPI_Bcast)>("PMPI_Bcast");
  return is_empty(count, comm) ? MPI_SUCCESS : bcast(buffer, count, type, root, comm);
}

TUTTI_EXPORT int PMPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type,
                             MPI_Op op, int root, MPI_Comm comm) {
  static const auto reduce = behind<decltype(&PMPI_Reduce)>("PMPI_Reduce");
  return is_empty(count, comm) ? MPI_SUCCESS : reduce(send, receive, count, type, op, root, comm);
}

TUTTI_EXPORT int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) {
  static const auto allreduce = behind<decltype(&PMPI_Allreduce)>("PMPI_Allreduce");
  return is_empty(count, comm) ? MPI_SUCCESS : allreduce(send, receive, count, type, op, comm);
}

TUTTI_EXPORT int PMPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type,
                                 void* receive, const int* counts, const int* displacements,
                                 MPI_Datatype type, MPI_Comm comm) {
  static const auto allgatherv = behind<decltype(&PMPI_Allgatherv)>("PMPI_Allgatherv");
  int p = 0;
  const bool is_known = counts != nullptr && PMPI_Comm_size(comm, &p) == MPI_SUCCESS;
  if (is_known && std::all_of(counts, counts + p, [](int count) { return count == 0; })) {
    return MPI_SUCCESS;
  }
  return allgatherv(send, send_count, send_type, receive, counts, displacements, type, comm);
}

namespace simgrid::smpi {

int alltoallv__ring(const void* send, const int* send_counts, const int* send_displacements,
                    MPI_Datatype send_type, void* receive, const int* counts,
                    const int* displacements, MPI_Datatype type, MPI_Comm comm);

/// SimGrid's pairwise exchange refuses other numbers of ranks than powers of two, for which the
/// selection of Open MPI takes it. Its ring is Open MPI's pairwise exchange.
__attribute__((visibility("default"))) int alltoallv__pair(
    const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
    void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm) {
  return alltoallv__ring(send, send_counts, send_displacements, send_type, receive, counts,
                         displacements, type, comm);
}

}  // namespace simgrid::smpi
