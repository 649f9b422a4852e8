/// Agreement through rank 0: a gather, a conclusion and a broadcast.
#include "run/mpi/agree.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace tutti {

namespace {

/// Sets `result` on all ranks to `conclude(values, ranks)` at rank 0, with the values of all ranks,
/// rank by rank.
template <class Value, class Result, class Conclude>
int conclude_on_all(MPI_Comm comm, std::span<const Value> mine, Result& result, Conclude conclude) {
  int rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  std::vector<Value> all(rank == 0 ? mine.size() * static_cast<std::size_t>(p) : 0);
  const int bytes = static_cast<int>(mine.size_bytes());
  const int error =
      mpi().Gather(mine.data(), bytes, mpi().byte, all.data(), bytes, mpi().byte, 0, comm);
  if (error != MPI_SUCCESS) return error;
  if (rank == 0) result = conclude(std::span<const Value>(all), p);
  return mpi().Bcast(&result, sizeof result, mpi().byte, 0, comm);
}

}  // namespace

int true_on_all(MPI_Comm comm, bool mine, bool& all) {
  const char own = mine ? 1 : 0;
  return conclude_on_all(comm, std::span(&own, 1), all, [](std::span<const char> values, int) {
    return std::all_of(values.begin(), values.end(), [](char one) { return one != 0; });
  });
}

int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum) {
  return conclude_on_all(comm, std::span<const Bytes>(&mine, 1), sum,
                         [](std::span<const Bytes> all, int) {
                           return std::accumulate(all.begin(), all.end(), Bytes{0});
                         });
}

int max_on_all(MPI_Comm comm, std::array<Bytes, 2>& values) {
  const std::array<Bytes, 2> mine = values;
  return conclude_on_all(comm, std::span<const Bytes>(mine), values,
                         [](std::span<const Bytes> all, int) {
                           std::array<Bytes, 2> largest = {all[0], all[1]};
                           for (std::size_t i = 0; i < all.size(); ++i) {
                             largest[i % 2] = std::max(largest[i % 2], all[i]);
                           }
                           return largest;
                         });
}

int combine_on_all(MPI_Comm comm, std::span<std::int64_t> maxima, std::span<std::int64_t> sums) {
  const std::vector<std::int64_t> largest(maxima.begin(), maxima.end());
  const std::vector<std::int64_t> summands(sums.begin(), sums.end());
  constexpr std::size_t max = 0;
  constexpr std::size_t sum = 2;
  const int error = mpi().Allreduce(largest.data(), maxima.data(), static_cast<int>(maxima.size()),
                                    mpi().int64, mpi().combining[max], comm);
  if (error != MPI_SUCCESS) return error;
  return mpi().Allreduce(summands.data(), sums.data(), static_cast<int>(sums.size()), mpi().int64,
                         mpi().combining[sum], comm);
}

}  // namespace tutti
