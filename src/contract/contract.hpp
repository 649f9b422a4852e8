/// Contracts: who holds which block before a collective, who must hold it after.
#pragma once

#include "core/types.hpp"

namespace tutti {

/// A collective of p ranks, as two predicates over (rank, block). Block i is what rank i
/// contributes or receives.
struct Contract {
  Collective collective = Collective::gather;
  int p = 1;
  Rank root = 0;

  /// Does `rank` hold block `block` when it enters?
  [[nodiscard]] bool holds_before(Rank rank, Rank block) const {
    return is_gather(collective) ? rank == block : rank == root;
  }
  /// Must `rank` hold block `block` when it leaves?
  [[nodiscard]] bool wants_after(Rank rank, Rank block) const {
    return is_gather(collective) ? rank == root : rank == block;
  }
};

}  // namespace tutti
