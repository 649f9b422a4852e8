/// The search for orders by distance, and their selection in a running program.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "core/distances.hpp"
#include "topology/rank_orders.hpp"

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

/// Evaluates the orders by distance of orders/orders.hpp, and local searches from each of them and
/// from the natural order. The best has the smallest time of its rounds and is never slower than
/// the natural order. The heuristics use the distances of messages of `block` bytes. `evaluations`
/// bounds the link times of each search; the total is up to ten times as many from 8 ranks on.
/// Equal on all ranks that pass the same bits.
[[nodiscard]] Reordering reordered(const Traffic& traffic, const Fabric& fabric, Bytes block,
                                   Anchor anchor, long evaluations = 20'000'000);

/// Where an order of the specification begins: at the root, or at any rank if there is none or the
/// order turns with it.
[[nodiscard]] Anchor anchor_of(const Specification& specification, Rank root);

/// The orders for a specification that needs distances, one for each class of block sizes, with the
/// root, if any, at position 0. order=distance gives the best order found if it gains 5 % over the
/// natural one, else the natural one, and so does order=cycle, for all roots in the mean; the name
/// of a heuristic gives its order. Where calls have no classes, all have that of any_class. O(p^2)
/// for each class, and about 10^6 link times for each local search.
[[nodiscard]] RankOrders rank_orders_of(const Specification& specification, const Fabric& fabric,
                                        Rank root);

/// Which of these candidates of one collective are in their order `find(candidate)` 1.25 times as
/// fast as the best of them in natural order, and as what MPI libraries usually run: these model
/// the MPI's own. The fastest first. Of a rooted collective they must turn with the root, and the
/// mean over roots other than those of the search counts. The times include only the links between
/// ranks. O(messages), plus `find`.
[[nodiscard]] std::vector<Specification> gaining_by_distance(
    std::span<const Specification> candidates, Bytes block, const Fabric& fabric,
    const std::function<const RankOrders&(const Specification&)>& find);

/// An order for all collectives of a new communicator, or for one collective. It minimises the sum
/// of times over the usual shapes of MPI libraries for small and large blocks, each relative to the
/// natural order. The sum must be below that of the natural order, and no shape more than 1 %
/// slower; else the result is the natural order. Rank 0 stays first. Without `collective`:
/// allgather by ring and by recursive doubling, and bcast, gather and scatter along binomial trees.
[[nodiscard]] std::vector<Rank> order_for_all(std::optional<Collective> collective,
                                              const Fabric& fabric);

}  // namespace tutti
