/// The rules by which an ordered tree grows from the sizes; central and distributed
/// constructions share them (Träff 2017, Lemmas 1 to 3).
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/problem.hpp"

namespace tutti {

/// What is known of a subcube: the constant-size state that its fixed root passes on.
struct Cube {
  Bytes ready = 0;       ///< modelled time at which the gather root holds `total`
  Bytes total = 0;       ///< what passes through the gather root, its own block included
  Bytes root_block = 0;  ///< the gather root's own block
  Rank gather_root = no_rank;

  [[nodiscard]] Bytes gathered() const { return total - root_block; }
  friend bool operator==(const Cube&, const Cube&) = default;
};

/// One join of adjacent subcubes.
struct Join {
  std::size_t winner = 0;      ///< the cube whose gather root receives
  std::vector<bool> detached;  ///< by cube: sends to the external root instead
  Cube joined;
};

/// By rank, the bytes that could pass from the first arrival to this rank's; null: all at once.
using ReadyTimes = std::shared_ptr<const std::vector<Bytes>>;

/// p ranks, joined in rounds: at level d the cubes are [a b^d, min((a+1) b^d, p)), b = ports + 1,
/// and b adjacent ones become one of level d + 1.
struct Growth {
  int p = 1;
  Rank root = no_rank;  ///< external root; no_rank lets the rules choose one
  Parameters parameters;
  Bytes half_performance_length = 0;  ///< n_1/2 = alpha / beta: bytes sent in one start-up
  Bytes memory = 0;  ///< bytes of other ranks that a rank but the root may hold; 0: no bound
  ReadyTimes ready = nullptr;

  /// When `rank` has its own block and can receive others.
  [[nodiscard]] Bytes ready_at(Rank rank) const {
    return ready ? (*ready)[static_cast<std::size_t>(rank)] : 0;
  }
  [[nodiscard]] int radix() const { return parameters.ports + 1; }
  /// Ranks in a full cube of `level`.
  [[nodiscard]] long width(int level) const;
  /// Rounds until one cube is left: ceil(log_b p).
  [[nodiscard]] int levels() const;
  [[nodiscard]] BlockRange cube(int level, long index) const;
  /// The cube's last rank, which speaks for it.
  [[nodiscard]] Rank fixed_root(int level, long index) const { return cube(level, index).end - 1; }
  /// The cubes [first, end) of `level` that become cube `index` of the next level.
  [[nodiscard]] std::pair<long, long> group(int level, long index) const;

  /// A rank alone.
  [[nodiscard]] Cube single(Rank rank, Bytes bytes) const {
    return {ready_at(rank), bytes, bytes, rank};
  }
  /// Joins cubes [first, first + cubes.size()) of `level`. The cube of the external root wins;
  /// otherwise the larger by the joining rule, ties by the other rule, then the upper one.
  [[nodiscard]] Join join(int level, long first, std::span<const Cube> cubes) const;

  /// Heavier subtrees send straight to the external root: by the threshold, and so that a rank
  /// never holds more than `memory` of its subtrees, of which it has at most ports in each round.
  [[nodiscard]] Bytes heaviest() const;
  /// May subtrees be that heavy?
  [[nodiscard]] bool detaches() const { return root != no_rank && heaviest() != unlimited; }
  static constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

  /// Subtrees are promoted: there is an external root, and no threshold detaches them.
  [[nodiscard]] bool promotes() const {
    return root != no_rank && parameters.promote && parameters.threshold < 0;
  }
  /// A subtree that may be promoted: its rank waits for the root's verdict. Both ends of the
  /// edge know its size, so both know whether a verdict comes. Twice n_1/2, because a
  /// verdict and a further message at the root are what a promotion costs.
  [[nodiscard]] bool may_be_promoted(Bytes bytes) const {
    return promotes() && bytes > 2 * half_performance_length;
  }
};

/// The most promotions in one tree; a verdict has this many words.
inline constexpr std::size_t max_promotions = 14;

/// The time at which a rank that takes one message at a time has all of `children`, served as
/// they become ready, from `start` on. Empty messages cost nothing.
[[nodiscard]] Bytes serve(std::span<const Subtree> children, Bytes half_performance_length,
                          Bytes start);

/// The subtree that cube `index` of `level` is.
[[nodiscard]] Subtree subtree_of(const Growth& growth, int level, long index, const Cube& cube);

/// Adds the results of one join to the neighbours of `rank`, the gather root of cube
/// first + mine. True while the rank stays a gather root.
bool apply_join(const Growth& growth, int level, long first, std::span<const Cube> cubes,
                std::size_t mine, TreeNeighbours& neighbours);

/// Takes the promoted ranks out of the children of `neighbours` and, if its own rank is among
/// them, makes the root its parent.
void apply_promotions(const Growth& growth, std::span<const Rank> promoted,
                      TreeNeighbours& neighbours);

}  // namespace tutti
