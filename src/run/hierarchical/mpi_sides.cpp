/// Packs buffers with gaps.
#include "run/hierarchical/mpi_sides.hpp"

#include <algorithm>
#include <new>

namespace tutti {

namespace {

Region region_of(const TypedBlock& block) {
  if (block.info.contiguous) return {block.address, block.bytes(), 0};
  return {block.address, block.count, handle_bits(block.type)};
}

/// The same elements in staging.
Region held_region(const TypedBlock& block, std::byte* at) {
  if (block.keeps_gaps) return {at, block.count, handle_bits(block.type)};
  return {at, block.bytes(), 0};
}

/// The blocks, in staging if `packed` is set. Empty ones may have any address.
HierarchicalSide side_of(std::span<const TypedBlock> blocks, std::byte* packed) {
  HierarchicalSide side;
  side.base = packed;
  bool follow = true;
  for (const TypedBlock& block : blocks) {
    auto* const address = static_cast<std::byte*>(block.address);
    if (block.bytes() == 0) continue;
    if (side.base == nullptr) side.base = address - side.bytes;
    follow = follow && (packed != nullptr || address == side.base + side.bytes);
    side.bytes += block.bytes();
  }
  if (follow) return side;
  Bytes begin = 0;
  for (const TypedBlock& block : blocks) {
    if (block.bytes() == 0) continue;
    side.blocks.push_back({static_cast<std::byte*>(block.address), begin, block.bytes()});
    begin += block.bytes();
  }
  side.base = nullptr;
  return side;
}

/// Are all blocks contiguous? The types of empty ones do not matter.
bool are_contiguous(std::span<const TypedBlock> blocks) {
  return std::ranges::all_of(
      blocks, [](const TypedBlock& block) { return block.bytes() == 0 || block.info.contiguous; });
}

/// Is a buffer missing? It would be read as zeros. With types that have gaps, null is MPI_BOTTOM.
bool is_nowhere(const TypedBlock& block) {
  return block.bytes() > 0 && block.address == nullptr && block.info.contiguous;
}

}  // namespace

/// Allocates staging for the blocks, and packs them if they are sent. If memory is short, returns
/// an error instead of an exception: others need this rank's part all the same.
int SideMemory::pack(std::span<const TypedBlock> blocks, Use use, std::byte*& packed) {
  Bytes bytes = 0;
  for (const TypedBlock& block : blocks) bytes += block.bytes();
  packed =
      memory_.emplace_back(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]()).get();
  if (packed == nullptr) return MPI_ERR_NO_MEM;
  std::byte* at = packed;
  for (const TypedBlock& block : blocks) {
    if (block.bytes() == 0) continue;
    if (use == Use::receive || use == Use::both) unpacked_.push_back({block, at});
    if (use != Use::receive) {
      if (const int error = transport_.copy(region_of(block), held_region(block, at))) return error;
    }
    at += block.bytes();
  }
  return MPI_SUCCESS;
}

int SideMemory::hold(std::span<const TypedBlock> blocks, Use use, HierarchicalSide& side) {
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
    const int error =
        transport_.copy(held_region(received.block, received.packed), region_of(received.block));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
