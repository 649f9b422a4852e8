/// What an algorithm sends, as the rounds of its shape.
#pragma once

#include "algorithms/algorithms.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// The rounds of an algorithm for blocks of `block` bytes each, or a vector of that many: those of
/// trees, rings and recursive doubling; a chain and the second half of scatter_allgather count as a
/// ring. For other shapes those of a star, whose time no order changes. O(p log p).
[[nodiscard]] Traffic traffic_of(const Specification& specification, int p, Bytes block);

}  // namespace tutti
