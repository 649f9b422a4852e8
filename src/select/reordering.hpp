/// Which order by distance a shape takes, and what it brings.
#pragma once

#include <string>
#include <vector>

#include "core/fabric.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// An order and its modelled time.
struct CandidateOrder {
  std::string name;         ///< how it was found, e.g. "nearest_next" or "nearest_next + swaps"
  std::vector<Rank> ranks;  ///< by position
  double seconds = 0;
};

/// The orders that were looked at.
struct Reordering {
  CandidateOrder natural;           ///< ranks as they are numbered, the first one first
  CandidateOrder best;              ///< natural again where no other is modelled faster
  std::vector<CandidateOrder> all;  ///< by modelled time, natural ones included

  /// What the natural order takes longer than the best, 1 where it is the best.
  [[nodiscard]] double gain() const {
    return best.seconds > 0 ? natural.seconds / best.seconds : 1;
  }
  [[nodiscard]] bool helps() const { return best.name != natural.name; }
};

/// Who stands at position 0.
struct Anchor {
  Rank first = 0;
  bool fixed = true;  ///< it must be `first`, as the root; else swaps may change it
};

/// Tries the orders of orders/by_distance and those found by swaps from each of them and from the
/// natural one, and takes the fastest by the rounds' time: never one slower than natural. `block`
/// is the size whose distances the greedy orders go by. `evaluations` bounds the work in link times
/// looked at; in all up to ten times as many are, from 8 ranks on. Alike on all ranks that pass the
/// same bits.
[[nodiscard]] Reordering reordered(const Traffic& traffic, const Fabric& fabric, Bytes block,
                                   Anchor anchor, long evaluations = 20'000'000);

}  // namespace tutti
