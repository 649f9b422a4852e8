/// Data that identify their source, and guarded buffers that reveal writes outside the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// A wrong byte.
struct Mismatch {
  Rank block = no_rank;  ///< rank of the block; no_rank: a guard around the data or a gap in it
  Bytes index = 0;       ///< byte of the block, or from the start of the data for a guard
  int expected = 0;
  int got = 0;
};

/// One line, e.g. "block 3, byte 17: expected 0x2a, got 0x00".
[[nodiscard]] std::string to_text(const Mismatch& mismatch);

/// What blocks hold: words of bits, which reductions combine by exclusive or, or floats that are
/// integers of 0 to 1023, whose sums over up to 16,384 ranks are exact in any order.
enum class Values : bool { bits, floats };

/// Fills a block with bytes that depend on its rank, the byte's index and the number of the call.
/// So a block of another rank or of an earlier call, or a misplaced one, differs.
void fill(std::span<std::byte> block, Rank rank, std::uint32_t call, Values values = Values::bits);

/// The first byte that differs from what `fill` wrote.
[[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> block, Rank rank,
                                            std::uint32_t call);

/// The first wrong byte of `found`, which is to hold the bytes from `begin` on of the exclusive or,
/// or sum, of what `fill` wrote for ranks 0 to `ranks` - 1. Names `rank` as its block. O(bytes
/// times ranks).
[[nodiscard]] std::optional<Mismatch> check_combined(std::span<const std::byte> found, Bytes begin,
                                                     Rank ranks, Rank rank, std::uint32_t call,
                                                     Values values = Values::bits);

/// The layout of the blocks in the root's buffer, in elements.
struct Layout {
  int width = 1;            ///< bytes of an element
  std::vector<int> counts;  ///< of each rank
  std::vector<int> displacements;
  Bytes bytes = 0;  ///< from the start of the first block to the end of the last

  [[nodiscard]] Bytes begin(Rank rank) const {
    return Bytes{displacements[static_cast<std::size_t>(rank)]} * width;
  }
  [[nodiscard]] Bytes size(Rank rank) const {
    return Bytes{counts[static_cast<std::size_t>(rank)]} * width;
  }
};

/// The blocks in rank order with `gap` elements between them. An error if a count or a displacement
/// does not fit MPI's int.
[[nodiscard]] Result<Layout> lay_out(const std::vector<Bytes>& blocks, int width, Bytes gap);

/// A buffer between two guards. All its bytes are the guard byte until written.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(Bytes bytes);

  [[nodiscard]] std::byte* data() { return bytes_.data() + guard; }
  [[nodiscard]] std::span<std::byte> at(Bytes begin, Bytes size);
  [[nodiscard]] std::span<const std::byte> at(Bytes begin, Bytes size) const;
  /// The first byte written before or after the data.
  [[nodiscard]] std::optional<Mismatch> check_guards() const;
  /// The first byte written in a gap of the layout.
  [[nodiscard]] std::optional<Mismatch> check_gaps(const Layout& layout) const;

 private:
  static constexpr Bytes guard = 64;
  [[nodiscard]] std::optional<Mismatch> check_untouched(Bytes begin, Bytes end) const;

  Bytes size_;
  std::vector<std::byte> bytes_;
};

}  // namespace tutti::bench
