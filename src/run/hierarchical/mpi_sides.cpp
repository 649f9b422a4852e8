/// Packs buffers with gaps.
#include "run/hierarchical/mpi_sides.hpp"

#include <algorithm>
#include <new>

namespace tutti {

namespace {

/// The same elements in staging.
Region staged(const SideBlock& block, std::byte* at) {
  if (block.keeps_gaps) return {at, block.region.count, block.region.type};
  return {at, block.bytes, 0};
}

/// The blocks, in staging if `packed` is set. Empty ones may have any address.
HierarchicalSide side_of(std::span<const SideBlock> blocks, std::byte* packed) {
  HierarchicalSide side;
  side.base = packed;
  bool follow = true;
  for (const SideBlock& block : blocks) {
    auto* const address = static_cast<std::byte*>(block.region.address);
    if (block.bytes == 0) continue;
    if (side.base == nullptr) side.base = address - side.bytes;
    follow = follow && (packed != nullptr || address == side.base + side.bytes);
    side.bytes += block.bytes;
  }
  if (follow) return side;
  Bytes begin = 0;
  for (const SideBlock& block : blocks) {
    if (block.bytes == 0) continue;
    side.blocks.push_back({static_cast<std::byte*>(block.region.address), begin, block.bytes});
    begin += block.bytes;
  }
  side.base = nullptr;
  return side;
}

/// Are all blocks contiguous? The types of empty ones do not matter.
bool are_contiguous(std::span<const SideBlock> blocks) {
  return std::ranges::all_of(
      blocks, [](const SideBlock& block) { return block.bytes == 0 || block.is_contiguous(); });
}

/// Is a buffer missing? It would be read as zeros. With types that have gaps, null is MPI_BOTTOM.
bool is_nowhere(const SideBlock& block) {
  return block.bytes > 0 && block.region.address == nullptr && block.is_contiguous();
}

}  // namespace

/// Allocates staging for the blocks, and packs them if they are sent. If memory is short, returns
/// an error instead of an exception: others need this rank's part all the same.
int SideMemory::pack(std::span<const SideBlock> blocks, Use use, std::byte*& packed) {
  Bytes bytes = 0;
  for (const SideBlock& block : blocks) bytes += block.bytes;
  packed =
      memory_.emplace_back(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]()).get();
  if (packed == nullptr) return MPI_ERR_NO_MEM;
  std::byte* at = packed;
  for (const SideBlock& block : blocks) {
    if (block.bytes == 0) continue;
    const Region staging = staged(block, at);
    if (use == Use::receive || use == Use::both) unpacked_.push_back({staging, block.region});
    if (use != Use::receive) {
      if (const int error = transport_.copy(block.region, staging)) return error;
    }
    at += block.bytes;
  }
  return MPI_SUCCESS;
}

int SideMemory::hold(std::span<const SideBlock> blocks, Use use, HierarchicalSide& side) {
  if (std::ranges::any_of(blocks, is_nowhere)) return MPI_ERR_BUFFER;
  std::byte* packed = nullptr;
  if (use == Use::copied || !are_contiguous(blocks)) {
    if (const int error = pack(blocks, use, packed)) return error;
  }
  side = side_of(blocks, packed);
  return MPI_SUCCESS;
}

int SideMemory::finish() {
  for (const Unpacked& received : unpacked_) {
    if (const int error = transport_.copy(received.packed, received.users)) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
