/// Contracts: the blocks that each rank holds before a collective and must hold after it.
#pragma once

#include "core/types.hpp"

namespace tutti {

/// A block as its collective numbers it, by ranks (see BlockKind).
using Block = BlockIndex;

/// The blocks first, first + stride, .., `count` of them.
struct BlockSeries {
  Block first = 0;
  Block count = 0;
  int stride = 1;

  [[nodiscard]] Block operator[](Block i) const { return first + i * stride; }
};

/// A collective of p ranks: the blocks that each rank holds before and wants after, by the lines of
/// core/collectives.inc. Block (s, d) of an alltoall is s's own before, and d's own after. Blocks
/// of one-sided collectives are in windows. No rank leaves a barrier before all ranks have entered.
///
/// In a reduction a rank holds its contributions to blocks. A result has each of its contributions
/// (see contributors) exactly once, combined in the sequence of ranks if the operation does not
/// commute.
struct Contract {
  Collective collective = Collective::gather;
  int p = 1;
  Rank root = 0;
  int parts = 1;            ///< number of parts of the vector, if blocks are parts
  bool commutative = true;  ///< the operation of a reduction commutes

  [[nodiscard]] BlockIndex blocks() const { return block_count(collective, p, parts); }

  /// The blocks that `rank` holds when it enters; in a reduction, those that it contributes to.
  [[nodiscard]] BlockSeries before(Rank rank) const {
    return held(properties_of(collective).before, rank, is_of_pairs() ? Block{rank} * p : rank, 1);
  }
  /// The blocks that `rank` must hold when it leaves.
  [[nodiscard]] BlockSeries after(Rank rank) const {
    return held(properties_of(collective).after, rank, rank, is_of_pairs() ? p : 1);
  }

 private:
  [[nodiscard]] bool is_of_pairs() const { return block_kind(collective) == BlockKind::pairs; }
  /// `first` and `stride` of a rank's own blocks.
  [[nodiscard]] BlockSeries held(Holders by, Rank rank, Block first, int stride) const {
    if (by == Holders::own) return {first, is_of_pairs() ? p : 1, stride};
    return {0, is_among(by, rank, root) ? blocks() : 0};
  }
};

}  // namespace tutti
