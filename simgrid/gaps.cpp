/// What SimGrid's MPI lacks or answers wrongly, and Tutti needs.
#include "simgrid/behind.hpp"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

using tutti::simgrid::behind;

/// A simulated rank has no threads.
TUTTI_EXPORT int PMPI_Query_thread(int* provided) {
  *provided = MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}

/// SimGrid reports null for a communicator whose handler was never set, and returns its errors.
TUTTI_EXPORT int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  static const auto get = behind<decltype(&PMPI_Comm_get_errhandler)>("PMPI_Comm_get_errhandler");
  const int error = get(comm, handler);
  if (error == MPI_SUCCESS && *handler == MPI_ERRHANDLER_NULL) *handler = MPI_ERRORS_RETURN;
  return error;
}

TUTTI_EXPORT int PMPI_Errhandler_free(MPI_Errhandler* handler) {
  static const auto release = behind<decltype(&PMPI_Errhandler_free)>("PMPI_Errhandler_free");
  if (*handler != MPI_ERRORS_RETURN && *handler != MPI_ERRORS_ARE_FATAL) return release(handler);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

/// SimGrid's needs p messages at each rank, and time O(p^2) to match them. Tutti waits for the
/// result at once, so that the blocking form does the same.
TUTTI_EXPORT int PMPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  static const auto start = behind<decltype(&PMPI_Iallreduce)>("PMPI_Iallreduce");
  if (tutti::simgrid::is_in_simgrid(__builtin_return_address(0))) {
    return start(send, receive, count, type, op, comm, request);
  }
  *request = MPI_REQUEST_NULL;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

/// SimGrid's algorithms divide by the number of elements.
TUTTI_EXPORT int PMPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type,
                             MPI_Op op, int root, MPI_Comm comm) {
  static const auto reduce = behind<decltype(&PMPI_Reduce)>("PMPI_Reduce");
  return count == 0 ? MPI_SUCCESS : reduce(send, receive, count, type, op, root, comm);
}
