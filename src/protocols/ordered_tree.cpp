/// The central construction, and promotions.
#include "protocols/ordered_tree.hpp"

#include <algorithm>
#include <map>

namespace tutti {

namespace {

/// Sets the holes of subtrees that are disjoint or nested: each gets the largest ones inside it.
/// O(n log n) for n subtrees.
void note_holes(std::vector<Subtree>& subtrees) {
  std::vector<Subtree*> by_begin;
  for (Subtree& subtree : subtrees) {
    subtree.holes.clear();
    by_begin.push_back(&subtree);
  }
  std::ranges::sort(by_begin, {}, [](const Subtree* subtree) {
    return std::pair(subtree->blocks.begin, -subtree->blocks.end);
  });
  std::vector<Subtree*> around;
  for (Subtree* subtree : by_begin) {
    while (!around.empty() && around.back()->blocks.end <= subtree->blocks.begin) around.pop_back();
    if (!around.empty()) around.back()->holes.push_back(subtree->blocks);
    around.push_back(subtree);
  }
}

}  // namespace

OrderedTree::OrderedTree(const Growth& growth, const std::vector<Bytes>& sizes)
    : growth_(growth), equal_(false) {
  std::vector<Cube> single_cubes;
  single_cubes.reserve(sizes.size());
  for (Rank rank = 0; rank < growth_.p; ++rank) {
    single_cubes.push_back(growth_.single(rank, sizes[index(rank)]));
  }
  cubes_.push_back(std::move(single_cubes));
  for (int level = 0; level < growth_.levels(); ++level) {
    const std::vector<Cube>& below = cubes_.back();
    std::vector<Cube> above;
    for (std::size_t first = 0; first < below.size(); first += index(growth_.radix())) {
      const std::size_t count = std::min(below.size() - first, index(growth_.radix()));
      above.push_back(
          growth_.join(level, static_cast<long>(first), std::span(below).subspan(first, count))
              .joined);
    }
    cubes_.push_back(std::move(above));
  }
  finish();
}

OrderedTree::OrderedTree(const Growth& growth, Bytes each)
    : growth_(growth), equal_(growth.ready == nullptr), each_(each) {
  if (!equal_) {
    // Ranks with different ready times have different subtrees even if their blocks are equal.
    *this = OrderedTree(growth, std::vector<Bytes>(index(growth.p), each));
    return;
  }
  finish();
}

void OrderedTree::finish() {
  const Cube whole = cube(growth_.levels(), 0);
  lemma_time_ = whole.ready;
  root_ = grown(whole.gather_root);
  if (growth_.detaches()) {
    std::vector<Subtree> detached;
    collect_detached(growth_.levels(), 0, detached);
    root_.children.insert(root_.children.end(), detached.begin(), detached.end());
    for (const Subtree& subtree : detached) root_.self.bytes += subtree.bytes;
  }
  grown_children_ = root_.children;
  time_ = growth_.serve(root(), root_.children);
  if (growth_.promotes()) promote_while_root_idles();
  if (growth_.detaches()) note_holes(root_.children);
}

Cube OrderedTree::cube(int level, long index) const {
  if (!equal_) return cubes_[static_cast<std::size_t>(level)][static_cast<std::size_t>(index)];
  const BlockRange ranks = growth_.cube(level, index);
  if (level == 0) return growth_.single(static_cast<Rank>(ranks.begin), each_);
  const bool plain = ranks.count() == growth_.width(level) &&
                     !(growth_.root != no_rank && ranks.contains(growth_.root));
  const auto [first, end] = growth_.group(level - 1, index);
  std::vector<Cube> cubes;
  if (plain) {
    // The parts differ only in their ranks: derive them from the first one.
    const Cube part = cube(level - 1, first);
    for (long i = first; i < end; ++i) {
      cubes.push_back(part);
      cubes.back().gather_root += static_cast<Rank>((i - first) * growth_.width(level - 1));
    }
  } else {
    cubes = group_cubes(level - 1, first, end);
  }
  return growth_.join(level - 1, first, cubes).joined;
}

std::vector<Cube> OrderedTree::group_cubes(int level, long first, long end) const {
  std::vector<Cube> cubes;
  for (long i = first; i < end; ++i) cubes.push_back(cube(level, i));
  return cubes;
}

TreeNeighbours OrderedTree::grown(Rank rank) const {
  TreeNeighbours neighbours;
  const Cube alone = cube(0, rank);
  neighbours.self = {rank, {rank, rank + 1}, {}, alone.total, alone.ready};
  for (int level = 0; level < growth_.levels(); ++level) {
    const long index = rank / growth_.width(level);
    const auto [first, end] = growth_.group(level, index / growth_.radix());
    if (end - first == 1) continue;
    const std::vector<Cube> cubes = group_cubes(level, first, end);
    if (!apply_join(growth_, level, first, cubes, static_cast<std::size_t>(index - first),
                    neighbours)) {
      break;
    }
  }
  return neighbours;
}

void OrderedTree::collect_detached(int level, long index, std::vector<Subtree>& detached) const {
  if (level == 0) return;
  if (equal_ && each_ * growth_.cube(level, index).count() <= growth_.heaviest()) return;
  const auto [first, end] = growth_.group(level - 1, index);
  const std::vector<Cube> cubes = group_cubes(level - 1, first, end);
  const Join join = growth_.join(level - 1, first, cubes);
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    const long part = first + static_cast<long>(i);
    collect_detached(level - 1, part, detached);
    if (join.detached[i]) detached.push_back(subtree_of(growth_, level - 1, part, cubes[i]));
  }
}

/// Repeatedly finds the last child that the root waits for, and makes the heaviest child of that
/// child a child of the root, as long as this shortens the modelled time.
void OrderedTree::promote_while_root_idles() {
  std::map<Rank, TreeNeighbours> opened;
  const auto open = [&](Rank rank) -> TreeNeighbours& {
    const auto [at, is_new] = opened.try_emplace(rank);
    if (is_new) {
      at->second = grown(rank);
      at->second.self.ready = growth_.serve(rank, at->second.children);
    }
    return at->second;
  };
  for (Subtree& child : root_.children) child.ready = open(child.root).self.ready;
  time_ = growth_.serve(root(), root_.children);
  while (promoted_.size() < max_promotions) {
    std::vector<Subtree> children = root_.children;
    std::ranges::stable_sort(children, {}, &Subtree::ready);
    Bytes time = growth_.ready_at(root());
    Subtree* last = nullptr;
    for (Subtree& child : children) {
      if (child.bytes == 0) continue;
      if (child.ready > time) last = &child;
      time = std::max(time, child.ready) + growth_.half_performance_length + child.bytes;
    }
    if (last == nullptr) return;
    const TreeNeighbours before = open(last->root);
    if (before.children.empty()) return;
    const Subtree heaviest = *std::ranges::max_element(before.children, {}, &Subtree::bytes);
    if (!growth_.may_be_promoted(heaviest.bytes)) return;
    TreeNeighbours after = before;
    apply_promotions(growth_, std::span(&heaviest.root, 1), after);
    after.self.ready = growth_.serve(after.self.root, after.children);
    *last = after.self;
    children.push_back(heaviest);
    children.back().ready = open(heaviest.root).self.ready;
    const Bytes shorter = growth_.serve(root(), children);
    if (shorter >= time) return;
    opened[after.self.root] = after;
    root_.children = std::move(children);
    promoted_.push_back(heaviest.root);
    time_ = shorter;
  }
}

TreeNeighbours OrderedTree::neighbours(Rank rank) const {
  if (rank == root()) return root_;
  TreeNeighbours neighbours = grown(rank);
  apply_promotions(growth_, promoted_, neighbours);
  return neighbours;
}

}  // namespace tutti
