/// Calls of all collectives on one communicator, with blocks of equal size.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "bench/mpi_functions.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// Blocks of so many ints, as many as a rank of p may send or receive in the collective.
struct Workplace {
  Workplace(Collective collective, int p, int ints);

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
