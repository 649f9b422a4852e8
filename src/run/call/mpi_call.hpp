/// The arguments of MPI's collectives, in one form for all.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/problem.hpp"
#include "core/types.hpp"
#include "protocols/arrival_agreement.hpp"
#include "run/mpi/devices.hpp"
#include "run/mpi/functions.hpp"
#include "run/mpi/types.hpp"
#include "topology/rank_orders.hpp"

namespace tutti {

class Arrival;

/// Numbers and displacements of the elements that a buffer has for or from each rank, in MPI's
/// three forms. Keeps pointers to the program's arrays, and compares pointers.
class RankBlocks {
 public:
  RankBlocks() = default;
  /// Equal counts, with blocks one after the other (MPI_Gather, MPI_Scatter).
  explicit RankBlocks(MPI_Count each) : each_(each) {}
  /// Counts alone, int or MPI_Count (MPI_Reduce_scatter): displacement() is undefined.
  template <class Count>
  static RankBlocks counted(const Count* counts) {
    RankBlocks blocks;
    blocks.counts_ = counts;
    blocks.are_large_ = sizeof(Count) > sizeof(int);
    blocks.given_ = counts != nullptr;
    return blocks;
  }
  /// Adds displacements to counts: int to int, MPI_Aint to MPI_Count.
  void place(const void* displacements) {
    displacements_ = displacements;
    given_ = given_ && displacements != nullptr;
  }

  /// The arrays, which are of ints; null if there are none.
  [[nodiscard]] const int* ints() const { return static_cast<const int*>(counts_); }
  [[nodiscard]] const int* int_displacements() const {
    return static_cast<const int*>(displacements_);
  }
  [[nodiscard]] bool are_placed() const { return displacements_ != nullptr; }
  /// False if the program passed null for an array.
  [[nodiscard]] bool are_given() const { return given_; }

  [[nodiscard]] MPI_Count count(Rank rank) const {
    if (are_equal()) return each_;
    return are_large_ ? static_cast<const MPI_Count*>(counts_)[rank]
                      : static_cast<const int*>(counts_)[rank];
  }
  /// The elements of all blocks.
  [[nodiscard]] MPI_Count total(int p) const {
    MPI_Count elements = 0;
    for (Rank rank = 0; rank < p; ++rank) elements += count(rank);
    return elements;
  }
  /// Are the counts of ranks 0..p-1 valid?
  [[nodiscard]] bool are_counted(int p) const {
    if (are_equal()) return each_ >= 0;
    for (Rank rank = 0; rank < p; ++rank) {
      if (count(rank) < 0) return false;
    }
    return true;
  }
  /// One count for all ranks, as in MPI_Gather and MPI_Scatter.
  [[nodiscard]] bool are_equal() const { return counts_ == nullptr; }
  /// Are the blocks of ranks 0..p-1 not one after the other?
  [[nodiscard]] bool are_scattered(int p) const {
    for (Rank rank = 1; rank < p && !are_equal(); ++rank) {
      if (displacement(rank) != displacement(rank - 1) + count(rank - 1)) return true;
    }
    return false;
  }
  friend bool operator==(const RankBlocks&, const RankBlocks&) = default;
  /// Displacement of a rank's block from the start of the buffer, in extents of the datatype.
  [[nodiscard]] MPI_Aint displacement(Rank rank) const {
    if (are_equal()) return static_cast<MPI_Aint>(each_) * rank;
    return are_large_ ? static_cast<const MPI_Aint*>(displacements_)[rank]
                      : static_cast<const int*>(displacements_)[rank];
  }

 private:
  MPI_Count each_ = 0;
  const void* counts_ = nullptr;
  const void* displacements_ = nullptr;
  bool are_large_ = false;  ///< MPI_Count and MPI_Aint instead of int
  bool given_ = true;
};

/// A rank's send or receive side of a call: one block or vector, or one block for or from each
/// rank.
struct CallSide {
  void* address = nullptr;
  RankBlocks blocks;
  MPI_Datatype type{};
  const MPI_Datatype* types = nullptr;  ///< MPI_Alltoallw: by rank, with displacements in bytes
  TypeInfo info = {};                   ///< filled in by PrivateComm::learn_types
  const TypeInfo* infos = nullptr;      ///< the same, by rank, for `types`

  [[nodiscard]] MPI_Datatype type_for(Rank rank) const {
    return types != nullptr ? types[rank] : type;
  }
  [[nodiscard]] const TypeInfo& info_for(Rank rank) const {
    return infos != nullptr ? infos[rank] : info;
  }
  /// True if its counts and handles are valid for any MPI.
  [[nodiscard]] bool looks_valid(int p) const {
    if (!blocks.are_given() || !blocks.are_counted(p)) return false;
    if (types == nullptr) return type != mpi().type_null;
    for (Rank rank = 0; rank < p; ++rank) {
      if (blocks.count(rank) > 0 && types[rank] == mpi().type_null) return false;
    }
    return true;
  }
  /// Packed bytes of the block for or from a rank.
  [[nodiscard]] Bytes bytes(Rank rank) const { return blocks.count(rank) * info_for(rank).size; }
  /// Bytes from `address` to the block for or from a rank.
  [[nodiscard]] MPI_Aint displacement(Rank rank) const {
    return blocks.displacement(rank) * (types != nullptr ? 1 : info.extent);
  }
};

/// One call of any collective. For a bcast, the buffer is `receive` at all ranks, and `send` is
/// MPI_IN_PLACE. A rank never reads arguments that MPI calls not significant there.
struct MpiCall {
  Collective collective = Collective::barrier;
  Rank root = 0;  ///< collectives with a root
  MPI_Comm comm{};
  CallSide send;
  CallSide receive;  ///< its address is not significant at a rank without a result
  MPI_Op op{};       ///< reductions

  bool begun = false;   ///< counted by PrivateComm::begin
  bool bounded = true;  ///< the MPI's own may replace an algorithm that stages too much

  /// Only the address is significant of a side with MPI_IN_PLACE.
  [[nodiscard]] bool in_place() const {
    return (is_scatter(collective) ? receive : send).address == MPI_IN_PLACE;
  }
  /// In an exchange in place received data overwrites data to send, which is copied first.
  [[nodiscard]] bool copies_first() const {
    return in_place() && block_kind(collective) == BlockKind::pairs;
  }
  /// Is the send side significant at this rank?
  [[nodiscard]] bool sends(Rank rank) const {
    if (is_scatter(collective)) return rank == root;
    return !in_place() && collective != Collective::barrier;
  }
  /// Is the receive side significant at this rank? Its address may not be (see has_result).
  [[nodiscard]] bool receives(Rank rank) const {
    if (is_scatter(collective)) return !in_place();
    return is_gather(collective) ? rank == root : collective != Collective::barrier;
  }
  /// Gathers and scatters: the side with this rank's block, unless the call is in place.
  [[nodiscard]] const CallSide& own() const { return is_scatter(collective) ? receive : send; }
  /// Gathers and scatters: the side with the blocks of all ranks, significant at the root.
  [[nodiscard]] const CallSide& whole() const { return is_scatter(collective) ? send : receive; }
  /// The side with this rank's contribution, in a scatter with its block.
  [[nodiscard]] const CallSide& contribution() const { return in_place() ? whole() : own(); }
  /// Bytes of this rank's block in that side. The types are known.
  [[nodiscard]] Bytes own_bytes(Rank rank) const {
    return contribution().bytes(in_place() ? rank : 0);
  }
};

/// Sets `sizes` to what follows from the arguments of this rank of p; keeps its memory. The types
/// are known. `element`: the bytes of an element instead of its packed ones.
void find_sizes(const MpiCall& call, Rank rank, int p, CallSizes& sizes,
                std::optional<Bytes> element = {});

/// Does a buffer that is significant at this rank begin in the memory of a GPU?
[[nodiscard]] inline bool touches_device(const MpiCall& call, Rank rank) {
  const bool receives =
      call.receives(rank) && (call.in_place() || has_result(call.collective, rank, call.root));
  return (call.sends(rank) && is_on_device(call.send.address)) ||
         (receives && is_on_device(call.receive.address));
}

/// The call context: facts beside the arguments, equal on all ranks that need them (see
/// CallProblem).
struct CallContext {
  const ArrivalEpoch* epoch = nullptr;  ///< the expected arrivals; null: not used. Borrowed
  /// Bytes of each rank's block; null: to be exchanged where an algorithm needs them. Borrowed.
  const std::vector<Bytes>* all_sizes = nullptr;
  /// Orders by distance; null if none are needed, or no distances are known. They outlive all
  /// calls.
  const RankOrders* rank_orders = nullptr;

  // By these the background thread finds the epoch of a call.
  std::shared_ptr<Arrival> arrival = nullptr;  ///< null: arrivals are not exchanged
  CallNumber number = 0;                       ///< of the call, in the exchange of arrivals
};

}  // namespace tutti
