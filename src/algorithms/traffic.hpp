/// What an algorithm sends, as the rounds of its shape.
#pragma once

#include "algorithms/algorithms.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// Schedules of so many ranks are looked at message by message.
inline constexpr int max_exact_ranks = 128;

/// The rounds of an algorithm for blocks of `block` bytes each, or a vector of that many, in the
/// natural order with root 0. Up to `max_exact_ranks` those of its real schedules: in each round
/// a rank sends one message and receives one, in the sequence in which they become ready, and a
/// message is ready in the round after those that it needs. O(messages). Beyond that those of the
/// shapes of trees, rings and recursive doubling; a chain and the second half of scatter_allgather
/// count as a ring, others as a star, whose time no order changes. O(p log p).
[[nodiscard]] Traffic traffic_of(const Specification& specification, int p, Bytes block);

/// The shape's rounds, whatever p.
[[nodiscard]] Traffic shape_traffic_of(const Specification& specification, int p, Bytes block);

}  // namespace tutti
