/// The basic types: ranks, positions, bytes, ranges of blocks, and the collectives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

/// A process of the communicator, 0..p-1, as MPI numbers it.
using Rank = int;
/// A position in an order, 0..p-1.
using Position = int;
/// A number of packed bytes. Also modelled time, in units of the transfer time of one byte.
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

/// Every collective with a contract. MPI_Alltoallw is alltoallv, because a contract counts packed
/// bytes; only sender and receiver of a block know its datatypes.
enum class Collective : std::uint8_t {
  gather,
  gatherv,
  scatter,
  scatterv,
  bcast,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier,
  rma_bcast,    ///< a broadcast into windows; only the root calls it
  rma_scatter,  ///< a scatter into windows; only the root calls it
  rma_gather,   ///< a gather from windows; only the root calls it
  rma_reduce,   ///< a reduction from windows; only the root calls it
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
};

inline constexpr std::array all_collectives = {
    Collective::gather,     Collective::gatherv,        Collective::scatter,
    Collective::scatterv,   Collective::bcast,          Collective::allgather,
    Collective::allgatherv, Collective::alltoall,       Collective::alltoallv,
    Collective::barrier,    Collective::rma_bcast,      Collective::rma_scatter,
    Collective::rma_gather, Collective::rma_reduce,     Collective::reduce,
    Collective::allreduce,  Collective::reduce_scatter, Collective::reduce_scatter_block};

/// The collectives that all ranks call.
inline constexpr std::array matched_collectives = {
    Collective::gather,         Collective::gatherv,
    Collective::scatter,        Collective::scatterv,
    Collective::bcast,          Collective::allgather,
    Collective::allgatherv,     Collective::alltoall,
    Collective::alltoallv,      Collective::barrier,
    Collective::reduce,         Collective::allreduce,
    Collective::reduce_scatter, Collective::reduce_scatter_block};

/// The collectives that only the root calls.
inline constexpr std::array one_sided_collectives = {
    Collective::rma_bcast, Collective::rma_scatter, Collective::rma_gather, Collective::rma_reduce};

/// Gathers and scatters; they come first in Collective.
inline constexpr std::array gathers_and_scatters = {Collective::gather, Collective::gatherv,
                                                    Collective::scatter, Collective::scatterv};

[[nodiscard]] constexpr bool is_gather_or_scatter(Collective collective) {
  return static_cast<std::size_t>(collective) < gathers_and_scatters.size();
}

/// The lower-case name, e.g. "gatherv".
[[nodiscard]] std::string_view name_of(Collective collective);
/// The collective of that name in any case, with or without "MPI_" before it.
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name);
/// The error for a name that no collective has, with the valid names.
[[nodiscard]] std::string unknown_collective(std::string_view name);

/// What the blocks of a collective are.
enum class BlockKind : std::uint8_t {
  ranks,  ///< one per rank: rank i contributes or receives block i
  pairs,  ///< one per pair: rank s sends block s * p + d to rank d
  parts,  ///< parts of one vector; the algorithm chooses their number
  none,   ///< no data
};
[[nodiscard]] constexpr BlockKind block_kind(Collective collective) {
  switch (collective) {
    case Collective::alltoall:
    case Collective::alltoallv:
      return BlockKind::pairs;
    case Collective::bcast:
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::rma_bcast:
    case Collective::rma_reduce:
      return BlockKind::parts;
    case Collective::barrier:
      return BlockKind::none;
    default:
      return BlockKind::ranks;
  }
}

/// The number of blocks of a collective of p ranks; `parts` if blocks are parts of a vector.
[[nodiscard]] constexpr int block_count(Collective collective, int p, int parts) {
  switch (block_kind(collective)) {
    case BlockKind::pairs:
      return p * p;
    case BlockKind::parts:
      return parts;
    case BlockKind::none:
      return 0;
    case BlockKind::ranks:
      break;
  }
  return p;
}

/// Blocks flow from all ranks to the root.
[[nodiscard]] constexpr bool is_gather(Collective collective) {
  return collective == Collective::gather || collective == Collective::gatherv;
}
/// Blocks may differ in size.
[[nodiscard]] constexpr bool is_irregular(Collective collective) {
  return collective == Collective::gatherv || collective == Collective::scatterv ||
         collective == Collective::allgatherv || collective == Collective::alltoallv ||
         collective == Collective::reduce_scatter;
}
/// Data flows from all ranks to the root, as blocks or combined.
[[nodiscard]] constexpr bool flows_to_root(Collective collective) {
  return is_gather(collective) || collective == Collective::reduce ||
         collective == Collective::rma_gather || collective == Collective::rma_reduce;
}
/// The models give a rank one port per direction, so that it sends one message while it receives
/// another. For gathers and scatters they give it a single port, as the papers do.
[[nodiscard]] constexpr bool has_two_ports(Collective collective) {
  return !is_gather_or_scatter(collective);
}
/// Only the root calls it. The background threads of the other ranks do their part, with puts and
/// notifications instead of messages.
[[nodiscard]] constexpr bool is_one_sided(Collective collective) {
  return Collective::rma_bcast <= collective && collective <= Collective::rma_reduce;
}
/// Rooted (MPI-4.0 6.2), or one-sided: one rank, the root, has a special part.
[[nodiscard]] constexpr bool has_root(Collective collective) {
  return is_gather_or_scatter(collective) || collective == Collective::bcast ||
         collective == Collective::reduce || is_one_sided(collective);
}
/// The contributions of the ranks to a block are combined.
[[nodiscard]] constexpr bool reduces(Collective collective) {
  return Collective::rma_reduce <= collective && collective <= Collective::reduce_scatter_block;
}

}  // namespace tutti
