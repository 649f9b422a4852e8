/// The collectives that can run through node memory, for tests of all of them.
#pragma once

#include <algorithm>
#include <array>

#include "core/types.hpp"

namespace tutti {

inline constexpr auto hierarchical_collectives = [] {
  std::array<Collective, index(std::ranges::count_if(all_collectives, can_be_hierarchical))>
      found{};
  std::ranges::copy_if(all_collectives, found.begin(), can_be_hierarchical);
  return found;
}();

}  // namespace tutti
