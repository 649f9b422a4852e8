/// The arguments of the rooted collectives of MPI, in one form for all of them.
#pragma once

#include "core/order.hpp"
#include "core/types.hpp"
#include "run/mpi_functions.hpp"
#include "run/mpi_types.hpp"

namespace tutti {

/// How many elements the root has for each rank, and where: MPI's three ways to say it.
class RankBlocks {
 public:
  RankBlocks() = default;
  /// Equal counts, one block after the other (MPI_Gather, MPI_Scatter).
  explicit RankBlocks(MPI_Count each) : each_(each) {}
  RankBlocks(const int* counts, const int* displacements)
      : counts_(counts),
        displacements_(displacements),
        given_(counts != nullptr && displacements != nullptr) {}
  RankBlocks(const MPI_Count* counts, const MPI_Aint* displacements)
      : large_counts_(counts),
        large_displacements_(displacements),
        given_(counts != nullptr && displacements != nullptr) {}

  /// False where the program passed null for an array.
  [[nodiscard]] bool are_given() const { return given_; }

  [[nodiscard]] MPI_Count count(Rank rank) const {
    if (counts_ != nullptr) return counts_[rank];
    return large_counts_ != nullptr ? large_counts_[rank] : each_;
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
  [[nodiscard]] bool are_equal() const { return counts_ == nullptr && large_counts_ == nullptr; }
  friend bool operator==(const RankBlocks&, const RankBlocks&) = default;
  /// In extents of the datatype, from the start of the buffer.
  [[nodiscard]] MPI_Aint displacement(Rank rank) const {
    if (counts_ != nullptr) return displacements_[rank];
    return large_counts_ != nullptr ? large_displacements_[rank]
                                    : static_cast<MPI_Aint>(each_) * rank;
  }

 private:
  MPI_Count each_ = 0;
  const int* counts_ = nullptr;
  const int* displacements_ = nullptr;
  const MPI_Count* large_counts_ = nullptr;
  const MPI_Aint* large_displacements_ = nullptr;
  bool given_ = true;
};

/// One call of a gather or scatter.
struct RootedCall {
  Collective collective = Collective::gather;
  Rank root = 0;
  MPI_Comm comm{};

  void* own = nullptr;  ///< send buffer of a gather, receive buffer of a scatter
  MPI_Count own_count = 0;
  MPI_Datatype own_type{};

  void* all = nullptr;  ///< significant at the root only, like the next two
  RankBlocks blocks;
  MPI_Datatype all_type{};

  TypeInfo own_info = {};  ///< filled in by PrivateComm::learn_types
  TypeInfo all_info = {};

  bool begun = false;  ///< counted by PrivateComm::begin

  [[nodiscard]] bool in_place() const { return own == MPI_IN_PLACE; }
};

}  // namespace tutti
