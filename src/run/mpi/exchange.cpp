/// Waits by tests.
#include "run/mpi/exchange.hpp"

#include <sched.h>

#include <thread>

namespace tutti {

int wait_yielding(MPI_Request& request, std::chrono::microseconds sleep) {
  for (int done = 0;;) {
    MPI_Status status{};
    if (const int error = mpi().Test(&request, &done, &status)) return error;
    if (done != 0) return MPI_SUCCESS;
    if (sleep.count() > 0) {
      std::this_thread::sleep_for(sleep);
    } else {
      sched_yield();
    }
  }
}

int send_yielding(const void* data, std::size_t bytes, Rank to, int tag, MPI_Comm comm) {
  MPI_Request request = mpi().request_null;
  const int error = mpi().Isend(data, static_cast<int>(bytes), mpi().byte, to, tag, comm, &request);
  return error == MPI_SUCCESS ? wait_yielding(request) : error;
}

int receive_yielding(void* data, std::size_t bytes, Rank from, int tag, MPI_Comm comm,
                     std::chrono::microseconds sleep) {
  MPI_Request request = mpi().request_null;
  const int error =
      mpi().Irecv(data, static_cast<int>(bytes), mpi().byte, from, tag, comm, &request);
  return error == MPI_SUCCESS ? wait_yielding(request, sleep) : error;
}

}  // namespace tutti
