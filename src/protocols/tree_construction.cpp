/// The rounds of the distributed construction.
#include "protocols/tree_construction.hpp"

#include <algorithm>
#include <span>

namespace tutti {

namespace {

constexpr std::size_t words_of_cube = 4;
constexpr int verdict_tag = 200;  // above 2 * levels + 1 for any p

std::vector<std::int64_t> words_of(std::span<const Cube> cubes) {
  std::vector<std::int64_t> words;
  for (const Cube& cube : cubes) {
    words.insert(words.end(), {cube.ready, cube.total, cube.root_block, cube.gather_root});
  }
  return words;
}

std::vector<std::int64_t> room_for(std::size_t cubes) {
  return std::vector<std::int64_t>(words_of_cube * cubes);
}

Cube cube_at(const std::vector<std::int64_t>& words, std::size_t index) {
  const std::size_t at = index * words_of_cube;
  return {words[at], words[at + 1], words[at + 2], static_cast<Rank>(words[at + 3])};
}

/// True if each subtree in `grown` is in `expected`, which may also hold subtrees that a threshold
/// detached.
bool are_among(const std::vector<Subtree>& grown, const std::vector<Subtree>& expected) {
  return std::ranges::all_of(grown, [&](const Subtree& child) {
    return std::ranges::any_of(expected, [&](const Subtree& other) {
      return child.root == other.root && child.bytes == other.bytes;
    });
  });
}

}  // namespace

Protocol construct_tree(Growth growth, Rank rank, Bytes own, const OrderedTree* central,
                        GrownTree& grown) {
  TreeNeighbours& neighbours = grown.neighbours;
  neighbours.self = {rank, {rank, rank + 1}, {}, own, growth.ready_at(rank)};
  Cube cube = growth.single(rank, own);  // this rank's, while it is a fixed root
  bool is_fixed_root = true;
  bool is_gather_root = true;
  for (int level = 0; level < growth.levels() && (is_fixed_root || is_gather_root); ++level) {
    const long at = rank / growth.width(level);
    const auto [first, end] = growth.group(level, at / growth.radix());
    if (end - first == 1) continue;  // no neighbour in this round
    const std::size_t mine = index(at - first);
    std::vector<Cube> group(index(end - first));
    if (is_fixed_root) {
      group[mine] = cube;
      Exchange states;
      for (long i = first; i < end; ++i) {
        if (i == at) continue;
        const Rank peer = growth.fixed_root(level, i);
        states.sends.push_back({peer, 2 * level, words_of({&cube, 1})});
        states.recvs.push_back({peer, 2 * level, room_for(1)});
      }
      co_yield states;
      auto received = states.recvs.begin();
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (i != mine) group[i] = cube_at((received++)->words, 0);
      }
    }
    Exchange notice;
    const int tag = 2 * level + 1;
    if (!is_fixed_root) {
      notice.recvs.push_back({growth.fixed_root(level, at), tag, room_for(group.size())});
    } else if (cube.gather_root != rank) {
      notice.sends.push_back({cube.gather_root, tag, words_of(group)});
    }
    co_yield notice;
    for (std::size_t i = 0; i < group.size() && !is_fixed_root; ++i) {
      group[i] = cube_at(notice.recvs[0].words, i);
    }
    if (is_gather_root) {
      is_gather_root = apply_join(growth, level, first, group, mine, neighbours);
    }
    if (is_fixed_root) {
      cube = growth.join(level, first, group).joined;
      is_fixed_root = mine + 1 == group.size();
    }
  }

  const bool at_root = rank == growth.root;
  std::vector<Rank> promoted;
  std::vector<Subtree> children = neighbours.children;
  if (at_root) {
    // Detached subtrees await the verdict from the root itself.
    grown.is_accepted = are_among(neighbours.children, central->grown_children());
    if (grown.is_accepted) {
      promoted = central->promoted();
      children = central->grown_children();
    }
  } else if (growth.may_be_promoted(neighbours.self.bytes)) {
    Exchange verdict;
    verdict.recvs.push_back(
        {neighbours.parent, verdict_tag, std::vector<std::int64_t>(max_promotions)});
    co_yield verdict;
    for (const std::int64_t word : verdict.recvs[0].words) {
      if (word != no_rank) promoted.push_back(static_cast<Rank>(word));
    }
  }
  std::vector<std::int64_t> words(promoted.begin(), promoted.end());
  words.resize(max_promotions, no_rank);
  Exchange forwarded;
  for (const Subtree& child : children) {
    if (growth.may_be_promoted(child.bytes)) {
      forwarded.sends.push_back({child.root, verdict_tag, words});
    }
  }
  co_yield forwarded;
  apply_promotions(growth, promoted, neighbours);
}

}  // namespace tutti
