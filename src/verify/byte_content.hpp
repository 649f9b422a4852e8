/// Memory whose bytes are symbols that name their origin.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Consecutive bytes and where they come from.
struct ByteSymbols {
  Bytes begin = 0;  ///< in their memory, or in a message
  Bytes end = 0;
  Bytes origin = 0;    ///< of the first byte: its offset into all blocks of the call in sequence
  int set = 0;         ///< reductions: the set of ranks whose contributions they combine
  bool input = false;  ///< written by the program before the call

  [[nodiscard]] Bytes bytes() const { return end - begin; }
  friend bool operator==(const ByteSymbols&, const ByteSymbols&) = default;
};

/// A memory of symbols; bytes that nobody has written are undefined. Sizes do not count: it keeps
/// ranges of bytes with consecutive origins.
class ByteContent {
 public:
  static constexpr Bytes none = -1;

  void clear() { ranges_.clear(); }
  /// Appends the symbols in `range` to `symbols`, numbered on from the end of these. Returns the
  /// first undefined byte, or `none`.
  [[nodiscard]] Bytes read(ByteRange range, std::vector<ByteSymbols>& symbols) const;
  /// True if some byte in `range` is defined.
  [[nodiscard]] bool has_some(ByteRange range) const {
    const auto next = after(range.begin);
    return next != ranges_.end() && next->begin < range.end;
  }
  /// Replaces the bytes in `range` by those of a message from `from` on, which has as many.
  void write(ByteRange range, const std::vector<ByteSymbols>& message, Bytes from);

 private:
  /// The first range that ends behind `byte`.
  [[nodiscard]] std::vector<ByteSymbols>::const_iterator after(Bytes byte) const;
  /// Makes the bytes undefined. Returns the place for ranges that begin there.
  std::vector<ByteSymbols>::iterator erase(ByteRange range);

  std::vector<ByteSymbols> ranges_;  ///< ascending
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

}  // namespace tutti
