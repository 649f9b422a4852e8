/// Contracts: the blocks that each rank holds before a collective and must hold after it.
#pragma once

#include "core/types.hpp"

namespace tutti {

/// A block as its collective numbers it, by ranks (see BlockKind).
using Block = int;

/// The blocks first, first + stride, .., `count` of them.
struct BlockSeries {
  Block first = 0;
  int count = 0;
  int stride = 1;

  [[nodiscard]] Block operator[](int i) const { return first + i * stride; }
};

/// A collective of p ranks: the blocks that each rank holds before and wants after.
///
///     collective                    holds before           wants after
///     gather(v)                     block == rank          rank == root
///     scatter(v)                    rank == root           block == rank
///     bcast                         rank == root           all
///     allgather(v)                  block == rank          all
///     alltoall(v), block (s, d)     s == rank              d == rank
///     reduce                        all: its contribution  rank == root: that of all ranks
///     allreduce                     all: its contribution  all: that of all ranks
///     reduce_scatter(_block)        all: its contribution  block == rank: that of all ranks
///     rma_...                       as without rma_; the blocks are in windows
///     barrier                       no blocks; no rank leaves before all ranks have entered
///
/// A reduction needs every rank's contribution exactly once in a block, combined in the sequence of
/// ranks if the operation does not commute.
struct Contract {
  Collective collective = Collective::gather;
  int p = 1;
  Rank root = 0;
  int parts = 1;            ///< number of parts of the vector, if blocks are parts
  bool commutative = true;  ///< the operation of a reduction commutes

  [[nodiscard]] int blocks() const { return block_count(collective, p, parts); }

  /// The blocks that `rank` holds when it enters; in a reduction, those that it contributes to.
  [[nodiscard]] BlockSeries before(Rank rank) const {
    switch (collective) {
      case Collective::gather:
      case Collective::gatherv:
      case Collective::allgather:
      case Collective::allgatherv:
      case Collective::rma_gather:
        return {rank, 1};
      case Collective::scatter:
      case Collective::scatterv:
      case Collective::bcast:
      case Collective::rma_bcast:
      case Collective::rma_scatter:
        return {0, rank == root ? blocks() : 0};
      case Collective::alltoall:
      case Collective::alltoallv:
        return {rank * p, p};
      default:
        return {0, blocks()};
    }
  }
  /// The blocks that `rank` must hold when it leaves.
  [[nodiscard]] BlockSeries after(Rank rank) const {
    switch (collective) {
      case Collective::gather:
      case Collective::gatherv:
      case Collective::reduce:
      case Collective::rma_gather:
      case Collective::rma_reduce:
        return {0, rank == root ? blocks() : 0};
      case Collective::scatter:
      case Collective::scatterv:
      case Collective::reduce_scatter:
      case Collective::reduce_scatter_block:
      case Collective::rma_scatter:
        return {rank, 1};
      case Collective::alltoall:
      case Collective::alltoallv:
        return {rank, p, p};
      default:
        return {0, blocks()};
    }
  }
};

}  // namespace tutti
