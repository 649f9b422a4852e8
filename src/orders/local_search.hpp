/// Local search over orders: swaps that reduce the modelled time of a shape's rounds.
#pragma once

#include <vector>

#include "core/fabric.hpp"
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

}  // namespace tutti
