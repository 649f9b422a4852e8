/// The circulant graph with ceil(log2 p) skips.
#pragma once

#include <algorithm>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The skips s_0 = 1 < .. < s_q = p with s_k = ceil(s_{k+1} / 2), q = ceil(log2 p) (Träff 2022,
/// arXiv 2205.10072): in round k position v exchanges with v - s_k and v + s_k modulo p.
///
///     p = 11: 1 2 3 6 11
[[nodiscard]] inline std::vector<int> circulant_skips(int p) {
  std::vector<int> skips = {p};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  std::ranges::reverse(skips);
  return skips;
}

}  // namespace tutti
