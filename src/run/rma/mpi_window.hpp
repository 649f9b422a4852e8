/// Windows of the program, with the parts of all ranks, and of Tutti.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"
#include "run/rma/control_message.hpp"

namespace tutti {

/// All functions return an MPI error code unless they say otherwise.
class RmaWindow {
 public:
  /// Opens a passive-target epoch on all ranks. Collective over `comm`, whose ranks must be those
  /// of the window: else MPI_ERR_COMM. MPI_ERR_RMA_FLAVOR for dynamic windows, which have no common
  /// displacements.
  static int open(MPI_Win handle, MPI_Comm comm, std::unique_ptr<RmaWindow>& made);
  /// Ends the epoch. No operation may be in transit.
  int close() { return mpi().Win_unlock_all(handle_); }

  /// MPI_ERR_RMA_RANGE if the region exceeds some rank's window. O(p).
  [[nodiscard]] int check(const RmaRegion& region) const;
  /// The address of the region in this rank's memory.
  [[nodiscard]] std::byte* at(const RmaRegion& region) const;
  /// May two regions share bytes in the window of some rank? May be true despite small gaps if
  /// units differ.
  [[nodiscard]] bool may_overlap(const RmaRegion& a, const RmaRegion& b) const;
  /// Puts bytes to a region of rank `to`, from `offset` on.
  int put(const std::byte* from, Bytes offset, Bytes bytes, Rank to, const RmaRegion& region);
  int flush(Rank to) { return mpi().Win_flush(to, handle_); }
  /// Makes the puts of other ranks visible to loads of this process.
  int sync() { return mpi().Win_sync(handle_); }

  RmaArrivals& arrivals(Rank root) { return arrivals_[root]; }
  /// The number of operations that this rank has begun.
  std::int64_t& begun() { return begun_; }

 private:
  struct Part {
    std::int64_t base = 0;  ///< address; meaningless to other ranks
    std::int64_t bytes = 0;
    std::int64_t unit = 1;
    std::int64_t valid = 0;
  };

  MPI_Win handle_{};
  Rank rank_ = 0;
  std::vector<Part> parts_;  ///< by rank
  std::int64_t min_unit_ = 1;
  std::map<Rank, RmaArrivals> arrivals_;
  std::int64_t begun_ = 0;
};

/// Zeroed memory of each rank in a passive-target epoch of all ranks. Functions return an MPI error
/// code.
struct AllocatedWindow {
  MPI_Win handle{};
  void* memory = nullptr;
  /// Collective; displacements count `unit` bytes. Returns an error on all ranks or on none; after
  /// one there is no window, unless only some ranks could allocate it.
  int open(MPI_Comm comm, std::size_t bytes, int unit);
  /// Collective.
  int close();
  /// Adds `by` to the number `at` of a rank, or reads numbers of this rank; complete on return.
  int add(std::int64_t by, Rank to, std::size_t at) const;
  int read(std::vector<std::int64_t>& numbers, Rank own) const;
};

/// Sets `progresses` to whether a put from rank 0 arrives at the last rank while that computes
/// outside the MPI; false with one rank. Takes 20 ms at most. Returns an MPI error code.
/// Collective.
int probe_rma_progress(MPI_Comm comm, bool& progresses);

}  // namespace tutti
