/// Agreement by reductions.
#include "run/mpi/agree.hpp"

#include <sched.h>

#include <span>
#include <vector>

#include "run/mpi/quirks.hpp"

namespace tutti {

namespace {

/// Indices of operations in MpiFunctions::combining.
constexpr std::size_t max = 0;
constexpr std::size_t add = 2;

/// Yields the core while it waits: an MPI that busy-waits takes 20 times as long where ranks
/// outnumber cores. Not on an MPI that yields by itself, whose nonblocking collectives may not
/// match (see OwnedComm::check_nonblocking).
int combine(MPI_Comm comm, std::span<const std::int64_t> mine, std::int64_t* result, MPI_Op op) {
  const int count = static_cast<int>(mine.size());
  if (makes_communicators_nonblocking()) {
    return mpi().Allreduce(mine.data(), result, count, mpi().int64, op, comm);
  }
  MPI_Request request = mpi().request_null;
  int error = mpi().Iallreduce(mine.data(), result, count, mpi().int64, op, comm, &request);
  for (int done = 0; error == MPI_SUCCESS && done == 0;) {
    MPI_Status status;
    error = mpi().Test(&request, &done, &status);
    if (done == 0) sched_yield();
  }
  return error;
}

}  // namespace

int true_on_all(MPI_Comm comm, bool mine, bool& all) {
  const std::int64_t denied = mine ? 0 : 1;
  std::int64_t most = 0;
  const int error = combine(comm, {&denied, 1}, &most, mpi().combining[max]);
  all = error == MPI_SUCCESS && most == 0;
  return error;
}

int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum) {
  return combine(comm, {&mine, 1}, &sum, mpi().combining[add]);
}

int max_on_all(MPI_Comm comm, std::array<Bytes, 2>& values) {
  const std::array<Bytes, 2> mine = values;
  return combine(comm, mine, values.data(), mpi().combining[max]);
}

int combine_on_all(MPI_Comm comm, std::span<std::int64_t> maxima, std::span<std::int64_t> sums) {
  const std::vector<std::int64_t> largest(maxima.begin(), maxima.end());
  const std::vector<std::int64_t> summands(sums.begin(), sums.end());
  int error = combine(comm, largest, maxima.data(), mpi().combining[max]);
  if (error == MPI_SUCCESS) error = combine(comm, summands, sums.data(), mpi().combining[add]);
  return error;
}

}  // namespace tutti
