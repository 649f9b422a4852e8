/// The operations that write each block of a rank's memory.
#pragma once

#include <iterator>
#include <map>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Maps blocks to their writers. Keeps ranges of blocks with the same writers, so a message of many
/// consecutive blocks costs as much as one block: O(log n) for n ranges, and each range it touches.
class BlockWriters {
 public:
  /// `operation` writes these blocks, or segments of them, besides their earlier writers.
  void add(BlockRange blocks, int operation) {
    auto next = split(blocks.begin);
    split(blocks.end);
    for (BlockIndex at = blocks.begin; at < blocks.end; at = next->second.end, ++next) {
      const bool is_gap = next == ranges_.end() || next->first > at;
      if (is_gap) {
        const BlockIndex end =
            next == ranges_.end() || next->first > blocks.end ? blocks.end : next->first;
        next = ranges_.emplace_hint(next, at, Range{end, {}});
      }
      next->second.writers.push_back(operation);
    }
  }
  /// `operation` alone writes these blocks; it needs their earlier writers.
  void replace(BlockRange blocks, int operation) {
    if (blocks.empty()) return;
    const auto first = split(blocks.begin);
    const auto next = ranges_.erase(first, split(blocks.end));
    ranges_.emplace_hint(next, blocks.begin, Range{blocks.end, {operation}});
  }
  /// Calls visit(operation) for the writers of these blocks; for one of several blocks repeatedly.
  template <class Visit>
  void for_each(BlockRange blocks, Visit visit) const {
    if (blocks.empty()) return;
    auto at = ranges_.upper_bound(blocks.begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > blocks.begin) --at;
    for (; at != ranges_.end() && at->first < blocks.end; ++at) {
      for (const int operation : at->second.writers) visit(operation);
    }
  }

 private:
  struct Range {
    BlockIndex end = 0;
    std::vector<int> writers;
  };
  using Ranges = std::map<BlockIndex, Range>;

  /// Makes a range end at `block` if one contains it. Returns the first range from there on.
  Ranges::iterator split(BlockIndex block) {
    const auto next = ranges_.lower_bound(block);
    if (next == ranges_.begin()) return next;
    Range& before = std::prev(next)->second;
    if (before.end <= block) return next;
    const auto rest = ranges_.emplace_hint(next, block, Range{before.end, before.writers});
    before.end = block;
    return rest;
  }

  Ranges ranges_;  ///< by first block
};

}  // namespace tutti
