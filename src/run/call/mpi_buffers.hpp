/// The caller's buffers and Tutti's scratch, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Packed memory, kept from call to call.
class Scratch {
 public:
  /// At least `bytes`, with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(Bytes bytes);
  /// Frees the memory if it is too large to keep.
  void trim();

 private:
  std::unique_ptr<std::byte[]> memory_;
  Bytes size_ = 0;
};

/// Largest block, in bytes, for which a copy costs less than an indexed datatype:
/// docs/decisions/packing-small-blocks.md.
inline constexpr Bytes packed_block = 256;

/// Is it faster if the root packs and unpacks blocks itself than if the MPI does so through an
/// indexed datatype? It is for small blocks that are scattered, by the order (`are_shuffled`) or by
/// the program's displacements: docs/decisions/packing-small-blocks.md. `element` is the size of
/// the datatype in bytes. O(1) for equal blocks, else O(p).
[[nodiscard]] bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled);

/// The buffers of a gather or scatter. Data of contiguous types moves as bytes, other data with its
/// type. Data arrives directly in the user's buffer at the root, at any displacements.
class MpiBuffers final : public Buffers {
 public:
  /// `iov` is working memory that is kept from call to call.
  MpiBuffers(const GatherScatterCall& call, const Order& order, std::byte* scratch, Iov& iov)
      : call_(call), order_(order), scratch_(scratch), iov_(iov) {}

  /// The areas of the root buffer, which only the root has, and of the block buffer.
  [[nodiscard]] Area root_area() const {
    return is_gather(call_.collective) ? Area::receive : Area::send;
  }
  [[nodiscard]] Area block_area() const {
    return is_gather(call_.collective) ? Area::send : Area::receive;
  }

  int find(const BufferRef& ref, Region& region) override;
  /// Copies between scratch and contiguous blocks of the root, block by block.
  bool copy(const BufferRef& from, const BufferRef& to) override;

 private:
  /// Sets iov_ to the blocks at these positions of the root's buffer.
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
