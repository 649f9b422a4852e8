/// Agreement of all ranks of a communicator.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

// All are collective and return an MPI error code.

/// Sets `all` to whether `mine` is true on every rank.
int true_on_all(MPI_Comm comm, bool mine, bool& all);
/// Sets `sum` to the sum of `mine` over the ranks.
int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum);
/// Sets each of `values` to its maximum over the ranks.
int max_on_all(MPI_Comm comm, std::array<Bytes, 2>& values);
/// Replaces each of `maxima` by the largest value of any rank, and each of `sums` by the sum over
/// the ranks. Two reductions.
int combine_on_all(MPI_Comm comm, std::span<std::int64_t> maxima, std::span<std::int64_t> sums);

}  // namespace tutti
