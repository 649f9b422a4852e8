/// Joins subcubes.
#include "protocols/growth.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

long Growth::width(int level) const {
  long width = 1;
  for (int i = 0; i < level; ++i) width *= radix();
  return width;
}

int Growth::levels() const {
  int levels = 0;
  for (long width = 1; width < p; width *= radix()) ++levels;
  return levels;
}

Bytes Growth::heaviest() const {
  const Bytes threshold = parameters.threshold >= 0 ? parameters.threshold : unlimited;
  if (memory <= 0) return threshold;
  return std::min(threshold, memory / std::max<Bytes>(1, Bytes{levels()} * parameters.ports));
}

BlockRange Growth::cube(int level, long index) const {
  const long size = width(level);
  return {static_cast<Rank>(index * size),
          static_cast<Rank>(std::min<long>((index + 1) * size, p))};
}

std::pair<long, long> Growth::group(int level, long index) const {
  const long size = width(level);
  const long cubes = (p + size - 1) / size;
  return {index * radix(), std::min<long>((index + 1) * radix(), cubes)};
}

Join Growth::join(int level, long first, std::span<const Cube> cubes) const {
  const auto key = [&](std::size_t i) {
    const Cube& cube = cubes[i];
    const bool has_root =
        root != no_rank && this->cube(level, first + static_cast<long>(i)).contains(root);
    switch (parameters.rule) {
      case JoinRule::volume:
        return std::tuple(has_root, cube.total, cube.gathered(), i);
      case JoinRule::gather_time:
        return std::tuple(has_root, cube.gathered(), cube.total, i);
      default:
        return std::tuple(has_root, Bytes{0}, Bytes{0}, cubes.size() - i);
    }
  };
  Join join;
  for (std::size_t i = 1; i < cubes.size(); ++i) {
    if (key(i) > key(join.winner)) join.winner = i;
  }
  const bool to_root = std::get<0>(key(join.winner));
  join.detached.assign(cubes.size(), false);
  join.joined = cubes[join.winner];
  const bool may_detach = root != no_rank && !to_root;
  const Bytes heaviest = may_detach ? this->heaviest() : unlimited;
  Bytes largest = 0;
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    if (i == join.winner) continue;
    join.detached[i] = cubes[i].total > heaviest;
    if (join.detached[i] || cubes[i].total == 0) continue;
    join.joined.ready = std::max(join.joined.ready, cubes[i].ready);
    join.joined.total += cubes[i].total;
    largest = std::max(largest, half_performance_length + cubes[i].total);
  }
  join.joined.ready += largest;
  return join;
}

Bytes Growth::serve(Rank rank, std::span<const Subtree> children) const {
  std::vector<const Subtree*> queue;
  for (const Subtree& child : children) {
    if (child.bytes > 0) queue.push_back(&child);
  }
  std::ranges::stable_sort(queue, {}, &Subtree::ready);
  Bytes time = ready_at(rank);
  for (const Subtree* child : queue)
    time = std::max(time, child->ready) + half_performance_length + child->bytes;
  return time;
}

Subtree subtree_of(const Growth& growth, int level, long index, const Cube& cube) {
  return {cube.gather_root, growth.cube(level, index), {}, cube.total, cube.ready};
}

namespace {

/// Keeps holes ascending, as the loops over the ranges between them require.
void add_hole(Subtree& subtree, BlockRange hole) {
  subtree.holes.insert(std::ranges::upper_bound(subtree.holes, hole.begin, {}, &BlockRange::begin),
                       hole);
}

}  // namespace

bool apply_join(const Growth& growth, int level, long first, std::span<const Cube> cubes,
                std::size_t mine, TreeNeighbours& neighbours) {
  const Join join = growth.join(level, first, cubes);
  if (join.winner != mine) {
    neighbours.parent = join.detached[mine] ? growth.root : cubes[join.winner].gather_root;
    return false;
  }
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    if (i == mine) continue;
    const Subtree other = subtree_of(growth, level, first + static_cast<long>(i), cubes[i]);
    if (join.detached[i]) {
      add_hole(neighbours.self, other.blocks);
    } else {
      neighbours.children.push_back(other);
    }
  }
  neighbours.self.blocks = {growth.cube(level, first).begin,
                            growth.cube(level, first + static_cast<long>(cubes.size()) - 1).end};
  neighbours.self.bytes = join.joined.total;
  neighbours.self.ready = join.joined.ready;
  return true;
}

void apply_promotions(const Growth& growth, std::span<const Rank> promoted,
                      TreeNeighbours& neighbours) {
  const auto is_promoted = [&](Rank rank) {
    return std::ranges::find(promoted, rank) != promoted.end();
  };
  if (is_promoted(neighbours.self.root)) neighbours.parent = growth.root;
  if (neighbours.self.root == growth.root) return;
  for (const Subtree& child : neighbours.children) {
    if (!is_promoted(child.root)) continue;
    add_hole(neighbours.self, child.blocks);
    neighbours.self.bytes -= child.bytes;
  }
  std::erase_if(neighbours.children, [&](const Subtree& child) { return is_promoted(child.root); });
}

}  // namespace tutti
