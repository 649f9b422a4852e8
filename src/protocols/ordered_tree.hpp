/// The central construction of the ordered tree from all sizes, for roots, simulators and tests.
#pragma once

#include <vector>

#include "protocols/growth.hpp"

namespace tutti {

/// The tree of Träff 2017, Lemmas 1 and 2: every subtree is a range of ranks, so no rank ever
/// reorders blocks. Its construction takes O(p) time and memory for unequal sizes, and O(log^2 p)
/// time for equal ones (O(p) at a root with a threshold).
///
///     p = 11, sizes 1 0 2 3 4 2 0 0 1 7 5, root 9, rule volume (each edge with its bytes)
///         9 -+- 8:1
///            +- 10:5
///            +- 3:12 -+- 2:2
///                     +- 0:1
///                     +- 4:6 --- 5:2
class OrderedTree {
 public:
  OrderedTree(const Growth& growth, const std::vector<Bytes>& sizes);
  OrderedTree(const Growth& growth, Bytes each);

  /// The tree's root: the external one, or else the one that the rules choose.
  [[nodiscard]] Rank root() const { return root_.self.root; }
  /// The neighbours of a rank. Where a threshold detaches subtrees, holes deeper than the rank's
  /// own joins are missing, because the rank cannot know them; bytes are always right.
  [[nodiscard]] TreeNeighbours neighbours(Rank rank) const;
  /// Modelled time in bytes by the recurrence of Lemmas 1 and 2, without promotions.
  [[nodiscard]] Bytes lemma_time() const { return lemma_time_; }
  /// Modelled time in bytes of the final tree; the root serves children as they become ready.
  [[nodiscard]] Bytes time() const { return time_; }
  /// The promoted ranks, first promotion first.
  [[nodiscard]] const std::vector<Rank>& promoted() const { return promoted_; }
  /// The root's children before promotions, detached ones included.
  [[nodiscard]] const std::vector<Subtree>& grown_children() const { return grown_children_; }

 private:
  void finish();
  [[nodiscard]] Cube cube(int level, long index) const;
  [[nodiscard]] std::vector<Cube> group_cubes(int level, long first, long end) const;
  [[nodiscard]] TreeNeighbours grown(Rank rank) const;
  void collect_detached(int level, long index, std::vector<Subtree>& detached) const;
  void promote_while_root_idles();

  Growth growth_;
  bool equal_;
  Bytes each_ = 0;
  std::vector<std::vector<Cube>> cubes_;  ///< by level, then index; equal sizes: full cubes only
  TreeNeighbours root_;
  std::vector<Subtree> grown_children_;
  std::vector<Rank> promoted_;
  Bytes lemma_time_ = 0;
  Bytes time_ = 0;
};

}  // namespace tutti
