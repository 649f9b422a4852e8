/// Calls of all collectives on one communicator.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "bench/mpi_functions.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// The numbers of blocks that a rank sends and receives; `any_root`: as if it were the root.
[[nodiscard]] int blocks_sent(Collective collective, int p, Rank rank, bool any_root);
[[nodiscard]] int blocks_received(Collective collective, int p, Rank rank, bool any_root);

/// Buffers for calls, for root 0 or for any root.
struct CallBuffers {
  /// `ints`: those of each rank's block; of an alltoall, those that this rank exchanges with each
  /// other one, both ways.
  CallBuffers(Collective collective, std::vector<int> ints, Rank rank, bool any_root);

  MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<int> sent, received;
  std::vector<int> counts, displacements;  ///< one for each of p blocks
  int own_count;                           ///< of the rank's own block
};

/// A call of `collective` by one of these functions, with the buffers `at`, which must outlive it.
/// Its argument is the root; collectives without a root ignore it.
[[nodiscard]] std::function<void(Rank root)> call_of(Collective collective, const Functions& by,
                                                     CallBuffers& at);

}  // namespace tutti::bench
