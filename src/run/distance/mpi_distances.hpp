/// Measuring the distances between ranks.
#pragma once

#include "run/mpi/functions.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

/// How each pair is measured.
struct PingPong {
  Bytes small = 1;           ///< for the latency
  Bytes large = 256 << 10;   ///< for the time per byte, far beyond what a link lets through at once
  int small_exchanges = 20;  ///< of which the shortest counts
  int large_exchanges = 4;
  int warm_up = 1;  ///< exchanges of each size before those
  /// Beyond 64 ranks: so many nodes in a row are at each switch; 0: not known.
  int nodes_per_switch = 0;
};

/// The messages that one rank sends and receives for a pair: of the exchanges, and the turn that is
/// given to it and that it gives.
[[nodiscard]] constexpr int messages_of_pair(const PingPong& how) {
  return 2 * (how.small_exchanges + how.large_exchanges + 2 * how.warm_up) + 2;
}

/// Half the shortest round trip of each pair that `hierarchy_to_measure` wants measured, one pair
/// at a time (see chains_to_measure), which give each other the turn; who waits for it sleeps.
/// `distances` are set at rank 0, and name the method and what it took. `comm` must be Tutti's own.
/// Collective. Returns an MPI error code.
int measure_distances(MPI_Comm comm, const PingPong& how, DistanceFile& distances);

}  // namespace tutti
