/// Orders by distance: ranks that exchange much data are close to one another.
#pragma once

#include <vector>

#include "core/distances.hpp"
#include "core/traffic.hpp"

namespace tutti {

// Each function returns the rank at each position, with `first` at position 0. Ties go to the
// lowest rank, so equal matrices give equal orders. All ranks must pass the same bits. A position
// that no messages connect to position 0 gets the rank nearest to the first.

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

}  // namespace tutti
