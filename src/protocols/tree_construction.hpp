/// The distributed construction of the ordered tree, to which each rank brings only its own size.
#pragma once

#include <span>
#include <vector>

#include "protocols/ordered_tree.hpp"
#include "protocols/protocol.hpp"

namespace tutti {

/// One rank's part of the construction (Träff 2017, Lemma 3). In each round the fixed roots of
/// adjacent cubes exchange the state of their cubes and send it to their gather roots: at most
/// 2 ceil(log2 p) - 1 dependent steps of constant size, O(log p) memory.
///
/// With promotions, the external root, which knows all sizes, then sends verdicts, and only down
/// the heavy subtrees. Both ends of an edge know whether a verdict comes.
class TreeConstruction final : public Protocol {
 public:
  /// `own` is the size of this rank's block. `central` is the tree as the external root computes it
  /// from all sizes, and significant only there. The root does not accept a grown tree in which it
  /// has a child that it has not there before promotions, and promotes nothing in such a tree.
  TreeConstruction(const Growth& growth, Rank rank, Bytes own,
                   const OrderedTree* central = nullptr);

  bool next(Exchange& exchange) override;

  /// The neighbours of this rank. Valid once `next` has returned false. An external root lacks the
  /// subtrees that a threshold or a promotion sends to it.
  [[nodiscard]] const TreeNeighbours& neighbours() const { return neighbours_; }
  /// False at an external root whose central tree differs.
  [[nodiscard]] bool accepted() const { return accepted_; }

 private:
  enum class Phase : std::uint8_t { begin, exchange, notify, await_verdict, forward_verdict, done };

  void start_exchange(Exchange& exchange);
  void start_notify(const Exchange& exchange, Exchange& next);
  void finish_level(const Exchange& exchange);
  void start_verdict(Exchange& exchange);
  void forward_verdict(const Exchange& exchange, Exchange& next);
  [[nodiscard]] bool awaits_verdict() const;
  [[nodiscard]] std::size_t position_in_group() const;

  Growth growth_;
  Rank rank_;
  Phase phase_ = Phase::begin;
  int level_ = -1;
  bool fixed_root_ = true;
  bool gather_root_ = true;
  Cube cube_;                ///< this rank's cube, while it is a fixed root
  std::vector<Cube> group_;  ///< the cubes of the current group, once known
  long first_ = 0;           ///< index of the group's first cube
  TreeNeighbours neighbours_;
  std::vector<Rank> promoted_;
  std::vector<Subtree> children_;  ///< at the external root
  bool accepted_ = true;
};

}  // namespace tutti
