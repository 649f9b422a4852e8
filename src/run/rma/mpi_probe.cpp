/// Puts one word into a rank that only polls its memory.
#include "run/rma/mpi_probe.hpp"

#include <chrono>
#include <cstdint>

#include "run/mpi/exchange.hpp"
#include "run/rma/mpi_request_windows.hpp"

namespace tutti {

namespace {

/// Returns an MPI error code.
int put_and_poll(MPI_Comm comm, const AllocatedWindow& window, char& seen) {
  using Clock = std::chrono::steady_clock;
  const Rank rank = rank_in(comm);
  const int p = size_of(comm);
  int error = MPI_SUCCESS;
  if (rank == 0 && p > 1) {
    const std::int64_t word = 1;
    error = mpi().Put(&word, 1, mpi().int64, p - 1, 0, 1, mpi().int64, window.handle);
    if (error == MPI_SUCCESS) error = mpi().Win_flush(p - 1, window.handle);
  }
  if (rank == p - 1 && p > 1) {
    const auto* const word = static_cast<const std::int64_t*>(window.memory);
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    while (seen == 0 && Clock::now() < end) {
      seen = __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0 ? 1 : 0;
    }
  }
  return error != MPI_SUCCESS ? error : mpi().Bcast(&seen, 1, mpi().byte, p - 1, comm);
}

}  // namespace

int probe_rma_progress(MPI_Comm comm, bool& progresses) {
  AllocatedWindow window;
  if (const int error = window.open(comm, sizeof(std::int64_t), sizeof(std::int64_t))) return error;
  char seen = 0;
  const int error = put_and_poll(comm, window, seen);
  const int closed = window.close();
  progresses = seen != 0;
  return error != MPI_SUCCESS ? error : closed;
}

}  // namespace tutti
