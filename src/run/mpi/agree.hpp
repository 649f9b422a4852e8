/// Agreement of all ranks of a communicator.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/max_and_sum.hpp"
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
/// Replaces each of `numbers` by the largest `max` and the sum of `sum` over the ranks. One
/// reduction.
int combine_on_all(MPI_Comm comm, std::span<MaxAndSum> numbers);

}  // namespace tutti
