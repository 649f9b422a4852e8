/// Sorts positions by their depth and subtree.
#include "shapes/sequences.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "shapes/knomial.hpp"

namespace tutti {

namespace {

/// Positions 1..p-1, the one with the largest key first.
template <class Key>
std::vector<Position> largest_first(int p, Key key) {
  using Keyed = std::pair<decltype(key(1)), Position>;
  std::vector<Keyed> keyed;
  for (Position v = 1; v < p; ++v) keyed.push_back({key(v), v});
  std::ranges::stable_sort(keyed, std::greater<>(), &Keyed::first);
  std::vector<Position> sequence;
  for (const auto& [_, v] : keyed) sequence.push_back(v);
  return sequence;
}

}  // namespace

std::vector<Position> large_subtrees_first(int p, int k) {
  return largest_first(p, [&](Position v) {
    int level = 0;
    for (; v % k == 0; v /= k) ++level;
    return std::pair(level, v % k);
  });
}

std::vector<Position> long_ways_first(int p, int k, Receives receives) {
  const Knomial tree(p, k);
  return largest_first(p, [&](Position v) {
    long length = receives == Receives::on_arrival ? tree.subtree(v).count() - 1 : 0;
    for (Position at = v; at != 0; at = tree.parent(at)) length += tree.subtree(at).count();
    return std::tuple(length, tree.depth(v), v);
  });
}

}  // namespace tutti
