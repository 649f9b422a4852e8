/// The names of orders, the orders by sizes, arrivals or distances, and local searches from an
/// order for a faster one.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/distances.hpp"
#include "core/order.hpp"

namespace tutti {

/// The values of the parameter `order`.
enum class OrderName : std::uint8_t {
  natural,            ///< the root, then the other ranks ascending
  rotated,            ///< ascending from the root, modulo p
  by_size,            ///< large blocks near the root
  arrival,            ///< early ranks at the positions that the shape serves first (Proficz 2020)
  late_leaf,          ///< gather: late ranks with the shortest path to the root
  distance,           ///< ranks that exchange much data are close to one another
  cycle,              ///< the same for all roots: one order, which turns until the root is first
  nearest_next,       ///< the nearest free rank comes next (RMH of Mirsadeghi & Afsahi 2016)
  two_partners_each,  ///< two partners for each reference (RDMH of the same)
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

// Orders by distance: ranks that exchange much data are close to one another. Each function returns
// the rank at each position, with `first` at position 0. Ties go to the lowest rank, so equal
// matrices give equal orders. All ranks must pass the same bits. A position that no messages
// connect to position 0 gets the rank nearest to the first.

/// Ring: the nearest free rank comes next (RMH in Bhowmik & Bodele 2019, section 3.3). O(p^2).
[[nodiscard]] std::vector<Rank> nearest_next(const Distances& distances, Rank first);

/// Exchanges, such as recursive doubling: the partners of a reference position in its two heaviest
/// rounds with a free partner get the nearest free ranks; then the second of them is the reference
/// (RDMH in Bhowmik & Bodele 2019, section 3.2). The paper does not define where a search begins,
/// nor which of the two is the next reference; the first of them would have no free partner from
/// p = 8 on. If p is not a power of two, a reference may have no free partner; then the one before
/// it is the reference again. O(p^2 + messages).
[[nodiscard]] std::vector<Rank> two_partners_each(const Distances& distances,
                                                  const Traffic& traffic, Rank first);

/// Any shape: takes the heaviest message between an assigned and an unassigned position, and
/// assigns to the latter the free rank nearest to the former. Ties go to the latest round, then to
/// the position assigned first. In binomial trees these are the two heuristics of Mirsadeghi &
/// Afsahi 2016. Gather (BGMH): the edge to the largest subtree first, because it carries most.
/// Broadcast (BBMH): depth first, the smallest subtree first, because all edges carry the same and
/// the last rounds have most messages at once. O(p^2 + messages log p).
[[nodiscard]] std::vector<Rank> heaviest_first(const Distances& distances, const Traffic& traffic,
                                               Rank first);

// Local searches: swaps that reduce the modelled time of a shape's rounds, and moves that reduce
// the slowest links of a ring.

/// The time of all rounds with the rank order[v] at position v. A round takes as long as its
/// slowest message alone, or as a shared link takes for all messages of the round that use it,
/// whichever is longer. O(levels * messages of the different rounds).
[[nodiscard]] double rounds_seconds(const Traffic& traffic, const Fabric& fabric,
                                    const std::vector<Rank>& order);

/// Repeats the best swap of two ranks while one reduces the time of all rounds, or keeps it and
/// reduces the sum of all message times. One of the two ranks takes part in a message that its
/// round waits for, the slowest one or one over the slowest link, because no other swap makes a
/// round faster. `keep_first` fixes position 0. Evaluates at most about `evaluations` link times;
/// unlike a time limit, this budget gives equal orders on all ranks. A swap takes
/// O(ends * p * (rounds + p)) evaluations.
[[nodiscard]] std::vector<Rank> local_search(std::vector<Rank> order, const Traffic& traffic,
                                             const Fabric& fabric, bool keep_first,
                                             long evaluations);

/// Ring: a local search from `order` that reverses ranges and moves up to three neighbours. A move
/// must make the slowest changed link faster, or leave it and make the next slowest faster. A link
/// counts with its slower direction. The first rank stays first. Reads at most about `evaluations`
/// distances: O(p^2) for each pass.
[[nodiscard]] std::vector<Rank> without_slow_links(const Distances& distances,
                                                   std::vector<Rank> order, long evaluations);

}  // namespace tutti
