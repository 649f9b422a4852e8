/// LocalSearch by swaps on the modelled time of a shape's rounds.
#pragma once

#include <vector>

#include "core/fabric.hpp"
#include "core/traffic.hpp"

namespace tutti {

/// The time of all rounds with the rank order[v] at position v. A round is as long as its slowest
/// message alone, or as a shared link takes for all that leave or enter its group in that round,
/// whichever is longer. O(levels * messages of the different rounds).
[[nodiscard]] double rounds_seconds(const Traffic& traffic, const Fabric& fabric,
                                    const std::vector<Rank>& order);

/// Swaps two ranks as long as that makes the rounds faster in all, or no slower and the messages
/// faster in all; each time the swap that gains most. Only the ends of the messages that a round
/// waits for are swapped, the slowest one or those over the slowest link, as no other swap makes a
/// round faster. `keep_first` leaves position 0 alone. At most about `evaluations` link times are
/// looked at, so that the work is bounded and, unlike by a clock, alike on all ranks; a step takes
/// O(ends * p * (rounds + p)) of them.
[[nodiscard]] std::vector<Rank> local_search(std::vector<Rank> order, const Traffic& traffic,
                                             const Fabric& fabric, bool keep_first,
                                             long evaluations);

}  // namespace tutti
