/// Builds the broadcast tree in the sequence of its messages.
#include "shapes/informed.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace tutti {

std::vector<TreeNeighbours> informed_tree(const std::vector<Bytes>& ready, Rank root,
                                          Bytes message) {
  const auto at = [&](Rank rank) { return ready[index(rank)]; };
  std::vector<Rank> uninformed(ready.size());
  std::iota(uninformed.begin(), uninformed.end(), 0);
  uninformed.erase(uninformed.begin() + root);
  std::ranges::stable_sort(uninformed, {}, at);

  std::vector<TreeNeighbours> tree(ready.size());
  using Free = std::pair<Bytes, Rank>;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> informed;
  informed.push({at(root), root});
  for (const Rank rank : uninformed) {
    const auto [free, server] = informed.top();
    informed.pop();
    const Bytes end = std::max(free, at(rank)) + message;
    tree[index(server)].children.push_back({.root = rank, .blocks = {0, 1}});
    tree[index(rank)].parent = server;
    informed.push({end, server});
    informed.push({end, rank});
  }
  return tree;
}

}  // namespace tutti
