/// The names of orders, and the orders by sizes or arrivals.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// The values of the parameter `order`.
enum class OrderName : std::uint8_t {
  natural,            ///< the root, then the other ranks ascending
  rotated,            ///< ascending from the root, modulo p
  by_size,            ///< large blocks near the root
  arrival,            ///< early ranks at the positions that the shape serves first (Proficz 2020)
  late_leaf,          ///< gather: late ranks with the shortest path to the root
  distance,           ///< ranks that exchange much data are close to one another
  nearest_next,       ///< the nearest free rank comes next (Bhowmik & Bodele 2019, RMH)
  two_partners_each,  ///< two partners for each reference (Bhowmik & Bodele 2019, RDMH)
  heaviest_first,     ///< heavy messages between near ranks (Mirsadeghi & Afsahi 2016, BBMH, BGMH)
};

[[nodiscard]] std::string_view name_of(OrderName order);

/// The hops from a position to the root of a shape.
using Depth = std::function<int(Position)>;

/// The root first. Larger blocks take fewer hops: positions sorted by (depth, position) take ranks
/// sorted by (size descending, rank). O(p log p).
[[nodiscard]] Order by_size(const std::vector<Bytes>& by_rank, Rank root, const Depth& depth);

/// The root first. Positions in the given sequence take the other ranks sorted by (arrival, rank).
/// All ranks must pass the same arrivals. O(p log p).
[[nodiscard]] Order by_arrival(const std::vector<double>& arrivals, Rank root,
                               const std::vector<Position>& sequence);

}  // namespace tutti
