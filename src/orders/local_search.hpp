/// Local searches over orders: swaps that reduce the modelled time of a shape's rounds, and moves
/// that reduce the slowest links of a ring.
#pragma once

#include <vector>

#include "core/distances.hpp"
#include "core/traffic.hpp"

namespace tutti {

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
