/// Puts one word into a rank that only polls its memory.
#include "run/rma/mpi_probe.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>

namespace tutti {

namespace {

constexpr MPI_Aint page = 4096;

/// Returns an MPI error code.
int put_and_poll(MPI_Comm comm, MPI_Win window, const std::int64_t* word, char& seen) {
  using Clock = std::chrono::steady_clock;
  int rank = 0;
  int p = 1;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  int error = mpi().Barrier(comm);
  const std::int64_t put = 1;
  if (rank == 0 && p > 1 && error == MPI_SUCCESS) {
    error = mpi().Put(&put, 1, mpi().int64, p - 1, 0, 1, mpi().int64, window);
    if (error == MPI_SUCCESS) error = mpi().Win_flush(p - 1, window);
  }
  if (rank == p - 1 && p > 1) {
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    while (seen == 0 && Clock::now() < end) {
      seen = __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0 ? 1 : 0;
    }
  }
  return error != MPI_SUCCESS ? error : mpi().Bcast(&seen, 1, mpi().byte, p - 1, comm);
}

}  // namespace

int probe_rma_progress(MPI_Comm comm, bool& progresses) {
  std::int64_t* words = nullptr;
  MPI_Win window{};
  // A whole page, because MPICH 4.0 puts 8 bytes beside windows whose size is no multiple of 16.
  int error = mpi().Win_allocate(page, sizeof(std::int64_t), mpi().info_null, comm,
                                 static_cast<void*>(&words), &window);
  if (error != MPI_SUCCESS) return error;
  std::memset(words, 0, page);
  char seen = 0;
  error = mpi().Win_lock_all(0, window);
  if (error == MPI_SUCCESS) error = mpi().Win_sync(window);
  if (error == MPI_SUCCESS) error = put_and_poll(comm, window, words, seen);
  const int unlocked = mpi().Win_unlock_all(window);
  const int freed = mpi().Win_free(&window);
  progresses = seen != 0;
  return error != MPI_SUCCESS ? error : unlocked != MPI_SUCCESS ? unlocked : freed;
}

}  // namespace tutti
