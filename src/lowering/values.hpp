/// Where the values of blocks are.
#pragma once

#include <algorithm>
#include <map>

#include "lowering/memory_use.hpp"

namespace tutti {

/// Maps blocks to the memory that holds their values, by ranges: blocks of one range are adjacent
/// there. Functions take `size`, which returns the bytes of a range of blocks. O(log n) for n
/// ranges, and each range that they touch.
class Values {
 public:
  /// The values of these blocks are at `spot` from now on.
  template <class Size>
  void put(BlockRange blocks, Spot spot, Size size) {
    if (blocks.empty()) return;
    split(blocks.begin, size);
    split(blocks.end, size);
    const auto next = ranges_.erase(ranges_.lower_bound(blocks.begin),  //
                                    ranges_.lower_bound(blocks.end));
    ranges_.emplace_hint(next, blocks.begin, Range{blocks.end, spot});
  }
  /// Calls visit(BlockRange, Spot) for the ranges of these blocks that have values, ascending.
  template <class Size, class Visit>
  void for_each(BlockRange blocks, Size size, Visit visit) const {
    auto at = ranges_.upper_bound(blocks.begin);
    if (at != ranges_.begin()) --at;
    for (; at != ranges_.end() && at->first < blocks.end; ++at) {
      const BlockRange part = {std::max(at->first, blocks.begin),
                               std::min(at->second.end, blocks.end)};
      if (!part.empty())
        visit(part, moved(at->second.spot, size(BlockRange{at->first, part.begin})));
    }
  }

 private:
  struct Range {
    BlockIndex end = 0;
    Spot spot;
  };

  /// Makes a range end at `block` if one contains it.
  template <class Size>
  void split(BlockIndex block, Size size) {
    const auto next = ranges_.lower_bound(block);
    if (next == ranges_.begin()) return;
    auto& [begin, before] = *std::prev(next);
    if (before.end <= block) return;
    ranges_.emplace_hint(next, block,
                         Range{before.end, moved(before.spot, size(BlockRange{begin, block}))});
    before.end = block;
  }

  std::map<BlockIndex, Range> ranges_;  ///< by first block
};

}  // namespace tutti
