/// Calls of all collectives on one communicator, with blocks of equal size.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "bench/mpi_functions.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// How many blocks a rank sends and receives in all; `any_root`: as if it were the root.
[[nodiscard]] int blocks_sent(Collective collective, int p, Rank rank, bool any_root);
[[nodiscard]] int blocks_received(Collective collective, int p, Rank rank, bool any_root);

/// Blocks of so many ints, as many as `rank` of p sends and receives in the collective with root 0,
/// or with any root.
struct Workplace {
  Workplace(Collective collective, int p, int ints, Rank rank, bool any_root);

  MPI_Comm comm = MPI_COMM_WORLD;
  int block;
  std::vector<int> sent, received;
  std::vector<int> counts, displacements;  ///< of p blocks
};

/// One call of `collective` by one of these functions, in `at`, which must outlive it; the root
/// counts where there is one.
[[nodiscard]] std::function<void(Rank root)> call_of(Collective collective, const Functions& by,
                                                     Workplace& at);

}  // namespace tutti::bench
