/// Orders by distance as a running program takes them.
#pragma once

#include "algorithms/algorithms.hpp"
#include "choose/reordering.hpp"
#include "knowledge/placements.hpp"

namespace tutti {

/// The orders for a specification that needs distances, with the root at position 0 where the
/// collective has one: the best that is found where it gains a twentieth on the natural one, else
/// that; a heuristic's own where one is asked for by name. O(p^2) for each class, and about 10^6
/// link times for each way of finding one.
[[nodiscard]] Placements placements_of(const Specification& specification, const Fabric& fabric,
                                       Rank root);

/// An order for all that a program may do in a new communicator, or for one collective: the one
/// that takes least time in the sum over the shapes that libraries take for small and for large
/// blocks, each in units of the natural order's: less than natural in all, and in no shape slower
/// by more than a hundredth. The natural one where there is none. Rank 0 stays first. `collective`
/// none: allgather by ring and by recursive doubling, bcast, gather and scatter along binomial
/// trees.
[[nodiscard]] std::vector<Rank> order_for_all(std::optional<Collective> collective,
                                              const Fabric& fabric);

}  // namespace tutti
