/// Chains of the ranks that share a clock.
#include "run/clock.hpp"

#include <map>
#include <utility>

namespace tutti {

std::vector<ClockPlace> clock_places(const std::vector<std::uint64_t>& identities) {
  std::vector<ClockPlace> places(identities.size());
  std::map<std::uint64_t, Rank> last;  // rank of each other system
  for (std::size_t rank = 1; rank < identities.size(); ++rank) {
    if (identities[rank] == identities[0]) continue;
    const auto [before, is_first] = last.try_emplace(identities[rank], 0);
    if (!is_first) places[index(before->second)].to = static_cast<Rank>(rank);
    places[rank].from = std::exchange(before->second, static_cast<Rank>(rank));
  }
  return places;
}

}  // namespace tutti
