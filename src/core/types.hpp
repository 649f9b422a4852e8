/// The smallest nouns: ranks, positions, bytes, ranges of blocks, the collectives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

/// A process of the communicator, 0..p-1, as MPI numbers it.
using Rank = int;
/// A place in an order, 0..p-1.
using Position = int;
/// A number of packed bytes. Also modelled time in units of one byte's transfer time.
using Bytes = std::int64_t;

inline constexpr Rank no_rank = -1;

/// Consecutive blocks, by position: [begin, end).
struct BlockRange {
  Position begin = 0;
  Position end = 0;

  [[nodiscard]] int count() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] bool contains(Position position) const {
    return begin <= position && position < end;
  }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// Every collective that a contract is written for.
enum class Collective : std::uint8_t { gather, gatherv, scatter, scatterv };

inline constexpr std::array all_collectives = {Collective::gather, Collective::gatherv,
                                               Collective::scatter, Collective::scatterv};

/// The lower-case name, e.g. "gatherv".
[[nodiscard]] std::string_view name_of(Collective collective);
/// The collective of that name in any case, with or without "MPI_" before it.
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name);

/// Data flows from all ranks to the root.
[[nodiscard]] constexpr bool is_gather(Collective collective) {
  return collective == Collective::gather || collective == Collective::gatherv;
}
/// Blocks may differ in size from rank to rank; only the root knows all sizes.
[[nodiscard]] constexpr bool is_irregular(Collective collective) {
  return collective == Collective::gatherv || collective == Collective::scatterv;
}

}  // namespace tutti
