/// Ping-pongs between pairs of ranks.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/distances.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Measures pairs of ranks one after the other: half the shortest round trip of each size. All
/// functions return an MPI error code.
class PingPong {
 public:
  /// For the latency, and for the time per byte, far beyond a link's buffers.
  static constexpr std::array<Bytes, 2> bytes = {1, 256 << 10};
  /// How many round trips of each size a pair makes.
  struct Effort {
    std::array<int, 2> warm_up;  ///< first, not counted
    std::array<int, 2> counted;
  };

  /// `comm` must be Tutti's own, and outlive this.
  PingPong(MPI_Comm comm, const Effort& effort);

  /// Measures the pairs of a chain in turn, so that none disturbs another; first ranks pass the
  /// turn on, and waiting ranks sleep. All ranks that have a part in it call it.
  int run(std::span<const RankPair> chain);
  /// Waits for all ranks, asleep. Collective.
  int synchronize();
  /// Sets `all` to what was measured since the last such call, at rank 0. Collective.
  int gather(std::vector<MeasuredLink>& all);

 private:
  int ask(Rank other, std::array<double, 2>& seconds);
  int answer(Rank other);
  int send(Bytes size, Rank to, int tag);
  int receive(Bytes size, Rank from, int tag, bool sleeps);

  MPI_Comm comm_;
  Rank rank_;
  Effort effort_;
  std::vector<char> buffer_;            ///< of ranks that have a part in a pair
  std::vector<MeasuredLink> measured_;  ///< at the first rank of each pair; not yet gathered
};

}  // namespace tutti
