/// The search for a shape's best order by distance.
#pragma once

#include <string>
#include <vector>

#include "core/fabric.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// An order and its modelled time.
struct CandidateOrder {
  std::string name;         ///< its heuristic, e.g. "nearest_next" or "nearest_next + swaps"
  std::vector<Rank> ranks;  ///< by position
  double seconds = 0;
};

/// The evaluated orders.
struct Reordering {
  CandidateOrder natural;           ///< the anchor's rank, then the others ascending
  CandidateOrder best;              ///< equals natural if no other order is modelled faster
  std::vector<CandidateOrder> all;  ///< by modelled time, including the natural one

  /// The time of the natural order divided by that of the best.
  [[nodiscard]] double gain() const {
    return best.seconds > 0 ? natural.seconds / best.seconds : 1;
  }
  [[nodiscard]] bool helps() const { return best.name != natural.name; }
};

/// The rank at position 0.
struct Anchor {
  Rank first = 0;
  bool fixed = true;  ///< swaps keep it there, as for a root
};

/// Evaluates the heuristics of orders/by_distance, and local searches from each of them and from
/// the natural order. The best has the smallest time of its rounds and is never slower than the
/// natural order. The heuristics use the distances of messages of `block` bytes. `evaluations`
/// bounds the link times of each search; the total is up to ten times as many from 8 ranks on.
/// Equal on all ranks that pass the same bits.
[[nodiscard]] Reordering reordered(const Traffic& traffic, const Fabric& fabric, Bytes block,
                                   Anchor anchor, long evaluations = 20'000'000);

}  // namespace tutti
