/// Memory whose bytes are symbols that name their origin.
#pragma once

#include <algorithm>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Consecutive bytes and where they come from.
struct ByteSymbols {
  Bytes begin = 0;  ///< in their memory, or in a message
  Bytes end = 0;
  Bytes origin = 0;    ///< of the first byte: its offset into all blocks of the call in sequence
  int set = 0;         ///< reductions: the set of ranks whose contributions they combine
  bool input = false;  ///< written by the program before the call; then `set` is not known

  [[nodiscard]] Bytes bytes() const { return end - begin; }
  friend bool operator==(const ByteSymbols&, const ByteSymbols&) = default;
};

/// The part of `symbols` in `range`.
[[nodiscard]] inline ByteSymbols part_of(ByteSymbols symbols, ByteRange range) {
  if (symbols.begin < range.begin) {
    symbols.origin += range.begin - symbols.begin;
    symbols.begin = range.begin;
  }
  if (range.end < symbols.end) symbols.end = range.end;
  return symbols;
}

/// A memory of symbols; bytes that nobody has written are undefined. Sizes do not count: it keeps
/// ranges of bytes with consecutive origins.
class ByteContent {
 public:
  static constexpr Bytes none = -1;

  void clear() { ranges_.clear(); }
  /// Appends the symbols in `range` to `symbols`, numbered on from the end of these. Returns the
  /// first undefined byte, or `none`.
  [[nodiscard]] Bytes read(ByteRange range, std::vector<ByteSymbols>& symbols) const {
    Bytes at = range.begin;
    for (auto next = after(at); at < range.end; ++next) {
      if (next == ranges_.end() || next->begin > at) return at;
      ByteSymbols part = part_of(*next, range);
      at = part.end;
      const Bytes start = symbols.empty() ? 0 : symbols.back().end;
      part.end = start + part.bytes();
      part.begin = start;
      symbols.push_back(part);
    }
    return none;
  }
  /// True if some byte in `range` is defined.
  [[nodiscard]] bool has_some(ByteRange range) const {
    const auto next = after(range.begin);
    return next != ranges_.end() && next->begin < range.end;
  }
  /// Replaces the bytes in `range` by those of a message from `from` on, which has as many.
  void write(ByteRange range, const std::vector<ByteSymbols>& message, Bytes from) {
    auto at = erase(range);
    const Bytes shift = range.begin - from;
    const ByteRange wanted = {from, from + range.bytes()};
    auto next = std::ranges::upper_bound(message, from, {}, &ByteSymbols::end);
    for (; next != message.end() && next->begin < wanted.end; ++next) {
      ByteSymbols part = part_of(*next, wanted);
      part.begin += shift;
      part.end += shift;
      if (at != ranges_.begin()) {
        ByteSymbols& last = *(at - 1);
        if (last.end == part.begin && last.origin + last.bytes() == part.origin &&
            last.set == part.set && last.input == part.input) {
          last.end = part.end;
          continue;
        }
      }
      at = ranges_.insert(at, part) + 1;
    }
  }

 private:
  /// The first range that ends behind `byte`.
  [[nodiscard]] std::vector<ByteSymbols>::const_iterator after(Bytes byte) const {
    return std::ranges::upper_bound(ranges_, byte, {}, &ByteSymbols::end);
  }
  /// Makes the bytes undefined. Returns the place for ranges that begin there.
  std::vector<ByteSymbols>::iterator erase(ByteRange range) {
    auto first = ranges_.begin() + (after(range.begin) - ranges_.cbegin());
    auto last = first;
    while (last != ranges_.end() && last->begin < range.end) ++last;
    if (first == last) return first;
    const ByteSymbols low = part_of(*first, {first->begin, range.begin});
    const ByteSymbols high = part_of(*(last - 1), {range.end, (last - 1)->end});
    first = ranges_.erase(first, last);
    if (high.begin < high.end) first = ranges_.insert(first, high);
    if (low.begin < low.end) first = ranges_.insert(first, low) + 1;
    return first;
  }

  std::vector<ByteSymbols> ranges_;  ///< ascending
};

}  // namespace tutti
