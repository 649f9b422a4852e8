/// What the tests of links between nodes share: machines on which all pairs can be measured.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "topology/node_links.hpp"

namespace tutti {

/// The time of a long message between two nodes; a short one takes 1 % of it.
using TimeBetween = std::function<double(int, int)>;

inline NodeLinks::Seconds seconds_of(double time) { return {time / 100, time}; }

/// Links as they are measured step by step.
struct MeasuredNodes {
  NodeLinks links;
  int pairs = 0;
  int rows = 0;
};

/// Measures what next_pairs() asks for until it has enough.
inline MeasuredNodes measured_nodes(NodeLinks known, const TimeBetween& time) {
  MeasuredNodes found{std::move(known)};
  for (;;) {
    const std::vector<RankPair> pairs = next_pairs(found.links);
    if (pairs.empty()) return found;
    ++found.rows;
    for (const auto& [a, b] : pairs) found.links.set(a, b, seconds_of(time(a, b)));
    found.pairs += static_cast<int>(pairs.size());
  }
}
inline MeasuredNodes measured_nodes(int n, const TimeBetween& time) {
  return measured_nodes(NodeLinks(n), time);
}

/// 0 .. n - 1 in random sequence.
inline std::vector<int> shuffled(int n, std::uint64_t seed) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
  return numbers;
}

}  // namespace tutti
