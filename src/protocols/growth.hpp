/// The rules by which an ordered tree grows from the sizes (Träff 2017, Lemmas 1 to 3), shared by
/// the central and the distributed construction.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/problem.hpp"

namespace tutti {

/// The constant-size state of a subcube that its fixed root passes on.
struct Cube {
  Bytes ready = 0;       ///< modelled time, in bytes, at which the gather root holds `total`
  Bytes total = 0;       ///< bytes that pass through the gather root, its own block included
  Bytes root_block = 0;  ///< the gather root's own block
  Rank gather_root = no_rank;

  [[nodiscard]] Bytes gathered() const { return total - root_block; }
  friend bool operator==(const Cube&, const Cube&) = default;
};

/// One join of adjacent subcubes.
struct Join {
  std::size_t winner = 0;      ///< the cube whose gather root receives
  std::vector<bool> detached;  ///< by cube: sends straight to the external root
  Cube joined;
};

/// By rank, the bytes that could pass during its delay behind the first arrival. Null: no delays.
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

  /// The modelled time, in bytes, at which `rank` has its own block and can receive others.
  [[nodiscard]] Bytes ready_at(Rank rank) const { return ready ? (*ready)[index(rank)] : 0; }
  [[nodiscard]] int radix() const { return parameters.ports + 1; }
  /// Ranks in a full cube of `level`.
  [[nodiscard]] long width(int level) const;
  /// Rounds until one cube is left: ceil(log_b p).
  [[nodiscard]] int levels() const;
  [[nodiscard]] BlockRange cube(int level, long index) const;
  /// The cube's last rank, which speaks for it.
  [[nodiscard]] Rank fixed_root(int level, long index) const {
    return static_cast<Rank>(cube(level, index).end) - 1;
  }
  /// The cubes [first, end) of `level` that become cube `index` of the next level.
  [[nodiscard]] std::pair<long, long> group(int level, long index) const;

  /// The cube of one rank.
  [[nodiscard]] Cube single(Rank rank, Bytes bytes) const {
    return {ready_at(rank), bytes, bytes, rank};
  }
  /// Joins cubes [first, first + cubes.size()) of `level`. The cube of the external root wins;
  /// otherwise the largest one by the joining rule, ties by the other rule, then the upper one.
  [[nodiscard]] Join join(int level, long first, std::span<const Cube> cubes) const;

  /// The modelled time, in bytes, at which `rank` has received from all `children`, one message at
  /// a time from ready_at(rank) on, as they become ready. Empty messages cost nothing.
  [[nodiscard]] Bytes serve(Rank rank, std::span<const Subtree> children) const;

  /// Heavier subtrees send straight to the external root. The bound is the threshold, or lower so
  /// that a rank never holds more than `memory` bytes of its subtrees (at most `ports` a round).
  [[nodiscard]] Bytes heaviest() const;
  /// True if heavy subtrees send straight to the external root.
  [[nodiscard]] bool detaches() const { return root != no_rank && heaviest() != unlimited; }
  static constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

  /// True if subtrees may be promoted: there is an external root, and no threshold.
  [[nodiscard]] bool promotes() const {
    return root != no_rank && parameters.promote && parameters.threshold < 0;
  }
  /// True if a subtree of this size may be promoted: its rank waits for the root's verdict. Both
  /// ends of the edge know its size, so both know whether a verdict comes. Twice n_1/2, because a
  /// promotion costs two messages: the verdict, and one more at the root.
  [[nodiscard]] bool may_be_promoted(Bytes bytes) const {
    return promotes() && bytes > 2 * half_performance_length;
  }
};

/// The largest number of promotions in one tree, and the words of a verdict.
inline constexpr std::size_t max_promotions = 14;

/// Cube `index` of `level` as a subtree.
[[nodiscard]] Subtree subtree_of(const Growth& growth, int level, long index, const Cube& cube);

/// Adds the result of one join to `neighbours`, those of the gather root of cube first + mine.
/// True if this rank remains a gather root.
bool apply_join(const Growth& growth, int level, long first, std::span<const Cube> cubes,
                std::size_t mine, TreeNeighbours& neighbours);

/// Removes the promoted ranks from the children of `neighbours`. Makes the root its parent if its
/// own rank is promoted.
void apply_promotions(const Growth& growth, std::span<const Rank> promoted,
                      TreeNeighbours& neighbours);

}  // namespace tutti
