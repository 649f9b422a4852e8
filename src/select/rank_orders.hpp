/// Selection of orders by distance in a running program.
#pragma once

#include <functional>
#include <optional>

#include "algorithms/algorithms.hpp"
#include "select/reordering.hpp"
#include "topology/rank_orders.hpp"

namespace tutti {

/// The orders for a specification that needs distances, one for each class of block sizes, with the
/// root, if any, at position 0. order=distance gives the best order found if it gains 5 % over the
/// natural one, else the natural one; the name of a heuristic gives its order. O(p^2) for each
/// class, and about 10^6 link times for each local search.
[[nodiscard]] RankOrders rank_orders_of(const Specification& specification, const Fabric& fabric,
                                        Rank root);

/// The algorithm of `collective` that is fastest in the order by distance of `find(specification)`,
/// if it is 1.25 times as fast as the best of these algorithms in natural order, which models the
/// MPI's own. None without such a gain, or if the collective has no algorithm whose time depends on
/// the order. The times include only the links between ranks. O(messages), plus `find`.
[[nodiscard]] std::optional<Specification> gaining_by_distance(
    Collective collective, Bytes block, const Fabric& fabric, Rank root,
    const std::function<const RankOrders&(const Specification&)>& find);

/// An order for all collectives of a new communicator, or for one collective. It minimises the sum
/// of times over the usual shapes of MPI libraries for small and large blocks, each relative to the
/// natural order. The sum must be below that of the natural order, and no shape more than 1 %
/// slower; else the result is the natural order. Rank 0 stays first. Without `collective`:
/// allgather by ring and by recursive doubling, and bcast, gather and scatter along binomial trees.
[[nodiscard]] std::vector<Rank> order_for_all(std::optional<Collective> collective,
                                              const Fabric& fabric);

}  // namespace tutti
