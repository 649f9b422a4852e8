/// Orders by distance as a running program takes them.
#pragma once

#include <functional>
#include <optional>

#include "algorithms/algorithms.hpp"
#include "select/reordering.hpp"
#include "topology/rank_orders.hpp"

namespace tutti {

/// The orders for a specification that needs distances, with the root at position 0 where the
/// collective has one: the best that is found where it gains a twentieth on the natural one, else
/// that; a heuristic's own where one is asked for by name. O(p^2) for each class, and about 10^6
/// link times for each way of finding one.
[[nodiscard]] RankOrders rank_orders_of(const Specification& specification, const Fabric& fabric,
                                        Rank root);

/// The algorithm of `collective` that takes the least time in the order by distance that
/// `find(specification)` gives, if that is a quarter less than the best of them takes in the
/// natural order, which stands for the MPI's own; none where there is no such gain, or no such
/// order counts. Only the links between ranks enter the times. O(messages), beside `find`.
[[nodiscard]] std::optional<Specification> gaining_by_distance(
    Collective collective, Bytes block, const Fabric& fabric, Rank root,
    const std::function<const RankOrders&(const Specification&)>& find);

/// An order for all that a program may do in a new communicator, or for one collective: the one
/// that takes least time in the sum over the shapes that libraries take for small and for large
/// blocks, each in units of the natural order's: less than natural in all, and in no shape slower
/// by more than a hundredth. The natural one where there is none. Rank 0 stays first. `collective`
/// none: allgather by ring and by recursive doubling, bcast, gather and scatter along binomial
/// trees.
[[nodiscard]] std::vector<Rank> order_for_all(std::optional<Collective> collective,
                                              const Fabric& fabric);

}  // namespace tutti
