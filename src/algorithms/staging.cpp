/// Bounds of staging memory, and trees that observe them.
#include "algorithms/staging.hpp"

#include <algorithm>
#include <bit>

#include "protocols/fixed_tree.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

Bytes staging_of(const Specification& specification, int p, Bytes bytes, Bytes memory,
                 Bytes largest) {
  const int k = specification.parameters.k;
  const Bytes mean = (bytes + p - 1) / p;
  largest = std::max(largest, mean);
  // An alltoall's messages of one round hold each block once, received and packed.
  const bool is_alltoall = block_kind(specification.algorithm->collective) == BlockKind::pairs;
  const Bytes each = is_alltoall ? std::min(k - 1, 2) : std::min(k, p) - 1;
  const Bytes rounds = each * Growth{.p = p, .parameters = {.ports = k - 1}}.levels();
  switch (specification.algorithm->staging) {
    case Staging::nothing:
      return 0;
    case Staging::subtrees:
      return memory > 0 ? memory : bytes;
    case Staging::group: {
      if (is_irregular(specification.algorithm->collective)) return bytes;
      const int late = specification.parameters.late;
      const int served = std::min(late < 0 ? p / 2 : late, p - 1);
      return ((served + p - served - 1) / (p - served) + 1) * (bytes / p);
    }
    case Staging::vector:
      return std::max(bytes, std::min(p, 2) * largest);
    case Staging::four_vectors:
      return 4 * bytes;
    case Staging::ten_vectors:
      return 10 * bytes;
    case Staging::halved_vectors:
      // A rank whose block is the largest receives it in every round: rounds of smaller ranges
      // together stage as much as the first one.
      return (3 + static_cast<Bytes>(std::bit_width(
                      static_cast<std::uint64_t>(largest / std::max<Bytes>(mean, 1))))) *
             bytes;
    case Staging::vector_each_round:
      return (rounds + 1) * bytes;
    case Staging::vector_each_rank:
      return (p - 1) * bytes;
    case Staging::block_each_rank:
      return (p - 1) * largest;
  }
  return 0;
}

Specification within(const Specification& specification, int p, Bytes bytes, Bytes memory) {
  if (fits(specification, p, bytes, memory)) return specification;
  const Algorithm* least = nullptr;
  const auto staged = [&](const Algorithm* algorithm) {
    return staging_of({algorithm, {}, {}, {}}, p, bytes, memory);
  };
  for (const Algorithm& other : all_algorithms()) {
    if (other.collective != specification.algorithm->collective) continue;
    if (least == nullptr || staged(&other) < staged(least)) least = &other;
  }
  Specification found = *tutti::specification(specification.algorithm->collective, least->name);
  if (specification.algorithm->takes("order")) found.order = specification.order;
  found.runner = specification.runner;
  return found;
}

std::vector<Bytes> by_position(const std::vector<Bytes>& sizes, const Order& order) {
  std::vector<Bytes> sorted;
  for (Position at = 0; at < order.size(); ++at) {
    sorted.push_back(sizes[index(order.rank_at(at))]);
  }
  return sorted;
}

TreeEdges knomial_edges(const Order& order, int k, Rank rank) {
  const Knomial tree(order.size(), k);
  const Position me = order.position_of(rank);
  TreeEdges edges;
  if (me != 0) edges.parent = order.rank_at(tree.parent(me));
  for (const Position child : tree.children(me)) edges.children.push_back(order.rank_at(child));
  return edges;
}

TreeNeighbours fixed_position(const Growth& growth, Position me, Bytes own,
                              const std::vector<Bytes>& children) {
  const Knomial tree(growth.p, growth.radix());
  TreeNeighbours neighbours;
  neighbours.self = {me, tree.subtree(me), {}, own, 0};
  std::size_t at = 0;
  for (const Position child : tree.children(me)) {
    const Bytes bytes = children[at++];
    if (me != 0 && bytes > growth.heaviest()) {
      neighbours.self.holes.push_back(tree.subtree(child));
    } else {
      neighbours.children.push_back({child, tree.subtree(child), {}, bytes, 0});
      neighbours.self.bytes += bytes;
    }
  }
  if (me != 0) neighbours.parent = neighbours.self.bytes > growth.heaviest() ? 0 : tree.parent(me);
  return neighbours;
}

TreeNeighbours in_order(TreeNeighbours neighbours, const Order& order) {
  const auto rename = [&](Subtree& subtree) {
    subtree.ready = subtree.root;
    subtree.root = order.rank_at(subtree.root);
  };
  if (neighbours.parent != no_rank) neighbours.parent = order.rank_at(neighbours.parent);
  rename(neighbours.self);
  for (Subtree& child : neighbours.children) rename(child);
  return neighbours;
}

}  // namespace tutti
