/// The messages of an algorithm, as rounds.
#pragma once

#include "algorithms/algorithms.hpp"
#include "core/distances.hpp"

namespace tutti {

/// Up to this many ranks, the rounds of all algorithms except rings come from the messages of real
/// schedules.
inline constexpr int max_exact_ranks = 128;

/// Which positions stand for all roots of an order that turns: those by which it is searched, or,
/// to judge it, those between them.
enum class Roots : char { searched, between };

/// The rounds of an algorithm in natural order with root 0, for blocks (or a vector) of `block`
/// bytes. They come from its real schedules: in each round a rank sends one message and receives
/// one, in the sequence in which they become ready; a message is ready in the round after those
/// that it needs. O(messages log messages). With more than `max_exact_ranks` ranks, or 33 around a
/// ring, that holds for trees and for positions at growing distances only; others have the rounds
/// of their shape. With an order that turns with the root, they are the rounds of one call by each
/// of `roots_of(p)`.
[[nodiscard]] Traffic traffic_of(const Specification& specification, int p, Bytes block,
                                 Roots roots = Roots::searched);

/// How many roots, evenly apart, stand for all of them where an order turns with the root.
[[nodiscard]] constexpr int roots_of(int p) { return p < 8 ? p : 8; }

/// The rounds of a ring; of a chain, as if all its parts were on their way at once; and of
/// scatter_allgather, whose second half counts as a ring. Of others those of a star, whose time
/// does not depend on the order where there is a root. O(p log p).
[[nodiscard]] Traffic shape_traffic_of(const Specification& specification, int p, Bytes block);

}  // namespace tutti
