/// The messages of an algorithm, as rounds.
#pragma once

#include "algorithms/algorithms.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// Up to this many ranks, rounds come from the messages of real schedules.
inline constexpr int max_exact_ranks = 128;

/// The rounds of an algorithm in natural order with root 0, for blocks (or a vector) of `block`
/// bytes. Up to `max_exact_ranks` they come from its real schedules: in each round a rank sends one
/// message and receives one, in the sequence in which they become ready; a message is ready in the
/// round after those that it needs. O(messages). Beyond that they are those of the shape: trees,
/// rings and recursive doubling. A chain and the second half of scatter_allgather count as a ring;
/// others as a star, whose time does not depend on the order. O(p log p).
[[nodiscard]] Traffic traffic_of(const Specification& specification, int p, Bytes block);

/// The rounds of the shape, for any p.
[[nodiscard]] Traffic shape_traffic_of(const Specification& specification, int p, Bytes block);

}  // namespace tutti
