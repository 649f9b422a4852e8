/// Orders that put ranks that exchange much close to one another.
#pragma once

#include <vector>

#include "core/distances.hpp"
#include "core/traffic.hpp"

namespace tutti {

// Each function gives the rank at each position, `first` at position 0. Ties go to the lowest
// rank, so equal matrices give equal orders. All ranks must pass the same bits.

/// Ring: the nearest free rank is next (RMH in Bhowmik & Bodele 2019, section 3.3). O(p^2).
[[nodiscard]] std::vector<Rank> nearest_next(const Distances& distances, Rank first);

/// Exchanges, such as recursive doubling: a reference position gets the nearest free rank for its
/// partner in the heaviest round where that one is free, then for the next, then the one placed
/// last is the reference (RDMH in Bhowmik & Bodele 2019, section 3.2). The paper leaves open where
/// a search begins and which of the two is the reference; with the first of them it would find no
/// partner from p = 8 on. A reference without free partners makes place for the one before, which
/// is for numbers of ranks that are no power of two. O(p^2 + messages).
[[nodiscard]] std::vector<Rank> two_partners_each(const Distances& distances,
                                                  const Traffic& traffic, Rank first);

/// Any shape: of the messages between a position that has its rank and one that has not, the
/// heaviest makes the nearest free rank its other end; among equals one of the latest round, then
/// of the position that was placed first. In binomial trees these are the two heuristics of
/// Mirsadeghi & Afsahi 2016. Gather (BGMH): the edges to the root's half, to the quarters, .., as
/// the larger a subtree the more its edge carries. Broadcast (BBMH): depth first, the smallest
/// subtree first, as all edges carry as much and most messages are under link at once in the last
/// rounds. O(p^2 + messages log p).
[[nodiscard]] std::vector<Rank> heaviest_first(const Distances& distances, const Traffic& traffic,
                                               Rank first);

/// Ring by its slowest links: `order`, with ranges turned round and up to three neighbours moved
/// elsewhere as long as that makes the slowest of the links it touches faster, or as slow and the
/// others faster; both directions of a link count as the slower one. Rotated so that its first
/// rank stays first. At most about `evaluations` distances are looked at: O(p^2) for each pass.
[[nodiscard]] std::vector<Rank> without_slow_links(const Distances& distances,
                                                   std::vector<Rank> order, long evaluations);

}  // namespace tutti
