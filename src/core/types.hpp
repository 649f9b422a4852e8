/// The basic types: ranks, positions, bytes, classes of sizes, ranges of blocks, and the
/// collectives.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tutti {

/// A process of the communicator, 0..p-1, as MPI numbers it.
using Rank = int;
/// A position in an order, 0..p-1.
using Position = int;
/// A number of packed bytes. Also modelled time, in units of the transfer time of one byte.
using Bytes = std::int64_t;
/// A block, by position, or a pair of positions; p * p pairs need 64 bits above 46,340 ranks.
using BlockIndex = std::int64_t;

inline constexpr Rank no_rank = -1;

/// `number`, such as a rank, position, block or step, as an array index; it must not be negative.
[[nodiscard]] constexpr std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

/// Consecutive blocks, by position: [begin, end).
struct BlockRange {
  BlockIndex begin = 0;
  BlockIndex end = 0;

  [[nodiscard]] BlockIndex count() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] bool contains(BlockIndex block) const { return begin <= block && block < end; }
  [[nodiscard]] bool overlaps(BlockRange other) const {
    return begin < other.end && other.begin < end;
  }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// Bytes [begin, end) of a memory, or of a block.
struct ByteRange {
  Bytes begin = 0;
  Bytes end = 0;

  [[nodiscard]] Bytes bytes() const { return end - begin; }
  [[nodiscard]] bool overlaps(ByteRange other) const {
    return begin < other.end && other.begin < end;
  }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Class 0 holds calls without data, class k calls of more than 2^(k-2) and at most 2^(k-1) bytes.
///
/// The size of a call is that of one block of its contract: what a rank contributes to a gather or
/// allgather, what it has for one other rank in an alltoall, and the whole vector of a bcast or
/// reduction. Of an irregular collective it is the mean block over all ranks, of an alltoallv
/// without the blocks that stay with their rank.
using SizeClass = int;

inline constexpr SizeClass size_classes = 65;

/// The class of a block of `bytes`. O(1).
[[nodiscard]] constexpr SizeClass class_of(Bytes bytes) {
  if (bytes <= 0) return 0;
  return static_cast<SizeClass>(std::bit_width(static_cast<std::uint64_t>(bytes - 1))) + 1;
}

/// The largest block of a class, in bytes.
[[nodiscard]] constexpr Bytes largest_of(SizeClass size_class) {
  return size_class == 0 ? 0 : Bytes{1} << std::min(size_class - 1, 62);
}

/// The tuning case that selected what a call runs, on the call's communicator.
struct CaseOfCall {
  int id = -1;            ///< number of the case in the report; -1: no case selected
  int candidate = 0;      ///< index of the case's candidate
  bool explores = false;  ///< the call does not run what is selected
  friend bool operator==(const CaseOfCall&, const CaseOfCall&) = default;
};

/// What one rank has of something; combined, the largest and the sum of what all ranks have. Two
/// 64-bit integers without padding: it is sent as it is.
struct MaxAndSum {
  std::int64_t max = 0;
  std::int64_t sum = 0;
};

/// A base of classes whose objects stay where they are: they own something, or others refer to
/// them.
struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

/// Every collective with a contract, in the sequence of collectives.inc. MPI_Alltoallw is
/// alltoallv, because a contract counts packed bytes; only sender and receiver of a block know its
/// datatypes.
enum class Collective : std::uint8_t {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) name,
#include "core/collectives.inc"
};

/// What the blocks of a collective are.
enum class BlockKind : std::uint8_t {
  ranks,  ///< one per rank: rank i contributes or receives block i
  pairs,  ///< one per pair: rank s sends block s * p + d to rank d
  parts,  ///< parts of one vector; the algorithm chooses their number
  none,   ///< no data
};

/// Who holds which blocks, or contributes to them.
enum class Holders : std::uint8_t {
  own,        ///< each rank its own: block i, or those of its pairs
  root,       ///< the root all, the others none
  all,        ///< each rank all
  inclusive,  ///< each rank all, combined over the ranks up to its own
  exclusive,  ///< each rank but rank 0 all, combined over the ranks before its own
};

/// A line of collectives.inc.
struct CollectiveProperties {
  std::string_view name;
  BlockKind blocks;
  Holders before;
  Holders after;
  bool irregular;
  bool reduces;
  bool one_sided;
};

namespace detail {
enum class Sizes : std::uint8_t { equal, varying };
enum class Data : std::uint8_t { moved, reduced };
enum class Callers : std::uint8_t { all_ranks, root_alone };

inline constexpr std::array properties = {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) \
  CollectiveProperties{#name,                                               \
                       BlockKind::blocks,                                   \
                       Holders::before,                                     \
                       Holders::after,                                      \
                       Sizes::sizes == Sizes::varying,                      \
                       Data::data == Data::reduced,                         \
                       Callers::callers == Callers::root_alone},
#include "core/collectives.inc"
};
}  // namespace detail

[[nodiscard]] constexpr const CollectiveProperties& properties_of(Collective collective) {
  return detail::properties[static_cast<std::size_t>(collective)];
}

/// What the blocks are.
[[nodiscard]] constexpr BlockKind block_kind(Collective collective) {
  return properties_of(collective).blocks;
}
/// Blocks may differ in size.
[[nodiscard]] constexpr bool is_irregular(Collective collective) {
  return properties_of(collective).irregular;
}
/// The contributions of the ranks to a block are combined.
[[nodiscard]] constexpr bool reduces(Collective collective) {
  return properties_of(collective).reduces;
}
/// Only the root calls it. The background threads of the other ranks do their part, with puts and
/// notifications instead of messages.
[[nodiscard]] constexpr bool is_one_sided(Collective collective) {
  return properties_of(collective).one_sided;
}
/// True if `rank` is among the holders.
[[nodiscard]] constexpr bool is_among(Holders holders, Rank rank, Rank root) {
  if (holders == Holders::root) return rank == root;
  return holders != Holders::exclusive || rank != 0;
}
/// True if the collective has a result for `rank`.
[[nodiscard]] constexpr bool has_result(Collective collective, Rank rank, Rank root) {
  return is_among(properties_of(collective).after, rank, root);
}
/// Each rank gets the combination of another range of ranks.
[[nodiscard]] constexpr bool is_scan(Collective collective) {
  const Holders after = properties_of(collective).after;
  return after == Holders::inclusive || after == Holders::exclusive;
}
/// Reductions: the result of `rank` combines the contributions of ranks 0 to n - 1; this is n.
[[nodiscard]] constexpr int contributors(Collective collective, int p, Rank rank) {
  if (!is_scan(collective)) return p;
  return properties_of(collective).after == Holders::inclusive ? rank + 1 : rank;
}
/// A form of it runs through node memory.
[[nodiscard]] constexpr bool can_be_hierarchical(Collective collective) {
  return !is_one_sided(collective) && !is_scan(collective);
}
/// Data flows from all ranks to the root, as blocks or combined.
[[nodiscard]] constexpr bool flows_to_root(Collective collective) {
  return properties_of(collective).after == Holders::root;
}
/// Rooted (MPI-4.0 6.2), or one-sided: one rank, the root, has a special part.
[[nodiscard]] constexpr bool has_root(Collective collective) {
  return properties_of(collective).before == Holders::root || flows_to_root(collective);
}
/// Each rank gets another block of a combined vector.
[[nodiscard]] constexpr bool is_reduce_scatter(Collective collective) {
  return reduces(collective) && block_kind(collective) == BlockKind::ranks;
}
/// True if `rank` may pass MPI_IN_PLACE.
[[nodiscard]] constexpr bool can_be_in_place(Collective collective, Rank rank, Rank root) {
  return collective != Collective::bcast && block_kind(collective) != BlockKind::none &&
         (!has_root(collective) || rank == root);
}
[[nodiscard]] constexpr bool is_gather_or_scatter(Collective collective) {
  return block_kind(collective) == BlockKind::ranks && has_root(collective) &&
         !is_one_sided(collective);
}
/// Blocks flow from all ranks to the root.
[[nodiscard]] constexpr bool is_gather(Collective collective) {
  return is_gather_or_scatter(collective) && flows_to_root(collective);
}
/// Blocks flow from the root to all ranks.
[[nodiscard]] constexpr bool is_scatter(Collective collective) {
  return is_gather_or_scatter(collective) && !flows_to_root(collective);
}
/// All ranks know the block of a call from their arguments; else each one knows only its own sizes.
[[nodiscard]] constexpr bool is_block_common(Collective collective) {
  return !is_irregular(collective) ||
         (!has_root(collective) && block_kind(collective) != BlockKind::pairs);
}
/// The models give a rank one port per direction, so that it sends one message while it receives
/// another. For gathers and scatters they give it a single port, as the papers do.
[[nodiscard]] constexpr bool has_two_ports(Collective collective) {
  return !is_gather_or_scatter(collective);
}

inline constexpr std::array all_collectives = {
#define TUTTI_PROPERTIES(name, blocks, before, after, sizes, data, callers) Collective::name,
#include "core/collectives.inc"
};

namespace detail {
static_assert(std::ranges::is_sorted(all_collectives, {}, is_one_sided),
              "one-sided collectives are behind all others in collectives.inc");
inline constexpr std::size_t matched =
    index(std::ranges::count(all_collectives, false, is_one_sided));
}  // namespace detail

/// The collectives that all ranks call.
inline constexpr auto matched_collectives = std::span(all_collectives).first(detail::matched);
/// The collectives that only the root calls.
inline constexpr auto one_sided_collectives = std::span(all_collectives).subspan(detail::matched);

/// One value for each collective.
template <class Value>
struct PerCollective : std::array<Value, all_collectives.size()> {
  [[nodiscard]] constexpr Value& operator[](Collective collective) {
    return this->data()[static_cast<std::size_t>(collective)];
  }
  [[nodiscard]] constexpr const Value& operator[](Collective collective) const {
    return this->data()[static_cast<std::size_t>(collective)];
  }
};

/// The lower-case name, e.g. "gatherv".
[[nodiscard]] std::string_view name_of(Collective collective);
/// The collective of that name in any case, with or without "MPI_" before it.
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name);
/// The error for a name that no collective has, with the valid names.
[[nodiscard]] std::string unknown_collective(std::string_view name);

/// The number of blocks of a collective of p ranks; `parts` if blocks are parts of a vector.
[[nodiscard]] constexpr BlockIndex block_count(Collective collective, int p, int parts) {
  switch (block_kind(collective)) {
    case BlockKind::pairs:
      return BlockIndex{p} * p;
    case BlockKind::parts:
      return parts;
    case BlockKind::none:
      return 0;
    case BlockKind::ranks:
      break;
  }
  return p;
}

}  // namespace tutti
