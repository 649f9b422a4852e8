/// Describes the buffers of a program as packed blocks with addresses.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/process.hpp"

namespace tutti {

/// Consecutive elements in a buffer of the program.
struct SideBlock {
  Region region;
  Bytes bytes = 0;          ///< in staging
  bool keeps_gaps = false;  ///< staging has the gaps of the type too; `bytes` includes them

  [[nodiscard]] bool is_contiguous() const { return region.type == 0; }
};

/// Staging for buffers of one call whose datatypes have gaps, or that are in GPU memory: the MPI
/// copies them. Contiguous buffers are used in place.
class SideMemory {
 public:
  explicit SideMemory(Transport& transport) : transport_(transport) {}

  enum class Use : std::uint8_t {
    send,
    copied,  ///< the same, if the call overwrites the buffer before all of it is read
    receive,
    both
  };
  /// Describes the blocks of a send buffer, a receive buffer, which finish() fills if it needs
  /// staging, or one that has the rank's contribution too. Returns an MPI error code, as do the
  /// functions below, and then leaves `side` without memory. MPI_ERR_BUFFER: a null buffer with
  /// bytes to move.
  int hold(std::span<const SideBlock> blocks, Use use, HierarchicalSide& side);
  int hold(const SideBlock& whole, Use use, HierarchicalSide& side) {
    return hold(std::span(&whole, 1), use, side);
  }
  /// Unpacks the received data.
  int finish();
  /// Never frees the staging, because the MPI may still use it. No call may follow.
  void leave() { leak(memory_); }

 private:
  /// A receive buffer, and its staging.
  struct Unpacked {
    Region packed;
    Region users;
  };
  int pack(std::span<const SideBlock> blocks, Use use, std::byte*& packed);

  Transport& transport_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<Unpacked> unpacked_;
};

/// Describes a call, whose datatypes are known, as a hierarchical call. If `is_dummy`, reads only
/// its collective and root. Sets `refused` to the reason if all ranks must run it flat: reductions
/// of derived types whose elements reach beyond their extents. Returns an MPI error code.
int describe(const MpiCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical, std::string& refused);

}  // namespace tutti
