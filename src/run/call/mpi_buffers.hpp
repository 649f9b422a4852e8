/// The callers' buffers and Tutti's scratch, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Packed memory that is kept from call to call.
class Scratch {
 public:
  /// At least `bytes`, with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(Bytes bytes);
  /// Gives back what is larger than is worth keeping.
  void trim();

 private:
  std::unique_ptr<std::byte[]> memory_;
  Bytes size_ = 0;
};

/// Bytes of a block up to which copying it takes less than what an indexed datatype costs for it:
/// docs/decisions/packing-small-blocks.md.
inline constexpr Bytes packed_block = 256;

/// Is it faster that the root packs and unpacks blocks by itself than that the MPI does so through
/// an indexed datatype? So it is for small blocks which the order (`are_shuffled`) or the program's
/// displacements tear apart: docs/decisions/packing-small-blocks.md. `element` is the size of the
/// datatype in bytes. O(1) for equal blocks, else O(p).
[[nodiscard]] bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled);

/// The buffers of a gather or scatter. Data of contiguous types is taken as bytes; other data is
/// typed. It lands directly in the user's buffer at the root, at any displacements.
class MpiBuffers final : public Buffers {
 public:
  /// `iov` is memory to work in that is kept from call to call.
  MpiBuffers(const GatherScatterCall& call, const Order& order, std::byte* scratch, Iov& iov)
      : call_(call), order_(order), scratch_(scratch), iov_(iov) {}

  /// The buffer of all blocks, which only the root has, and that of the rank's block.
  [[nodiscard]] Area root_area() const {
    return is_gather(call_.collective) ? Area::receive : Area::send;
  }
  [[nodiscard]] Area block_area() const {
    return is_gather(call_.collective) ? Area::send : Area::receive;
  }

  int find(const BufferRef& ref, Region& region) override;
  /// Between scratch and contiguous blocks of the root, block by block.
  bool copy(const BufferRef& from, const BufferRef& to) override;

 private:
  /// Sets the runs to the blocks at these positions of the root's buffer.
  void find_iov(const Blocks& blocks);
  [[nodiscard]] TypedBuffer root_buffer() const {
    return {call_.root_buffer, call_.root_type, call_.root_info};
  }

  const GatherScatterCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Iov& iov_;
  MadeTypes made_;
};

}  // namespace tutti
