/// Agreement by reductions.
#include "run/mpi/agree.hpp"

#include <sched.h>

#include <algorithm>
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
int reduce(MPI_Comm comm, const void* mine, void* result, std::size_t elements, MPI_Datatype type,
           MPI_Op op) {
  const int count = static_cast<int>(elements);
  if (makes_communicators_nonblocking()) {
    return mpi().Allreduce(mine, result, count, type, op, comm);
  }
  MPI_Request request = mpi().request_null;
  int error = mpi().Iallreduce(mine, result, count, type, op, comm, &request);
  for (int done = 0; error == MPI_SUCCESS && done == 0;) {
    MPI_Status status;
    error = mpi().Test(&request, &done, &status);
    if (done == 0) sched_yield();
  }
  return error;
}

int combine(MPI_Comm comm, std::span<const std::int64_t> mine, std::int64_t* result, MPI_Op op) {
  return reduce(comm, mine.data(), result, mine.size(), mpi().int64, op);
}

extern "C" void combine_max_and_sum(void* more, void* all, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const MaxAndSum*>(more);
  auto* to = static_cast<MaxAndSum*>(all);
  for (int i = 0; i < *count; ++i) {
    to[i] = {std::max(to[i].max, from[i].max), to[i].sum + from[i].sum};
  }
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

/// The type and the operation live for one reduction: to make them takes no messages.
int combine_on_all(MPI_Comm comm, std::span<MaxAndSum> numbers) {
  const std::vector<MaxAndSum> mine(numbers.begin(), numbers.end());
  MPI_Datatype pair = mpi().type_null;
  if (const int error = mpi().Type_contiguous(2, mpi().int64, &pair)) return error;
  MPI_Op op{};
  int error = mpi().Type_commit(&pair);
  if (error == MPI_SUCCESS) error = mpi().Op_create(combine_max_and_sum, 1, &op);
  if (error == MPI_SUCCESS) {
    error = reduce(comm, mine.data(), numbers.data(), mine.size(), pair, op);
    mpi().Op_free(&op);
  }
  mpi().Type_free(&pair);
  return error;
}

}  // namespace tutti
