/// Orders by name, and those that need to know sizes or arrivals.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// The orders that an algorithm can be asked for.
enum class OrderName : std::uint8_t {
  natural,            ///< the root, then ranks as they are numbered
  rotated,            ///< onwards from the root, modulo p
  by_size,            ///< large blocks near the root
  arrival,            ///< as a shape takes early ranks first (Proficz 2020)
  late_leaf,          ///< late ranks with the shortest link to the root of a gather
  distance,           ///< ranks that exchange much close to one another
  nearest_next,       ///< the nearest free rank is next (Bhowmik & Bodele 2019, RMH)
  two_partners_each,  ///< two partners for each reference (Bhowmik & Bodele 2019, RDMH)
  heaviest_first,     ///< heavy messages between near ranks (Mirsadeghi & Afsahi 2016, BBMH, BGMH)
};

[[nodiscard]] std::string_view name_of(OrderName order);
[[nodiscard]] std::optional<OrderName> order_named(std::string_view name);

/// Hops from a position to the root in a shape.
using Depth = std::function<int(Position)>;

/// The root first; then the larger a block, the fewer hops: positions by (depth, position)
/// take ranks by (size descending, rank). O(p log p).
[[nodiscard]] Order by_size(const std::vector<Bytes>& by_rank, Rank root, const Depth& depth);

/// The root first; then positions in the given sequence take the other ranks by (arrival,
/// rank), earliest first. All ranks must pass the same arrivals. O(p log p).
[[nodiscard]] Order by_arrival(const std::vector<double>& arrivals, Rank root,
                               const std::vector<Position>& sequence);

}  // namespace tutti
