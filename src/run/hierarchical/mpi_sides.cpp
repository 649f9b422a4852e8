/// Packs buffers with gaps, and describes gathers and scatters.
#include "run/hierarchical/mpi_sides.hpp"

#include <algorithm>
#include <new>

namespace tutti {

namespace {

Region region_of(const TypedBlock& block) {
  if (block.info.contiguous) return {block.address, block.bytes(), 0};
  return {block.address, block.count, region_type(block.type)};
}

/// The same elements in staging.
Region held_region(const TypedBlock& block, std::byte* at) {
  if (block.keeps_gaps) return {at, block.count, region_type(block.type)};
  return {at, block.bytes(), 0};
}

HierarchicalSide equal_side(std::byte* base, const TypedBlock& whole, int blocks) {
  HierarchicalSide side;
  side.base = base;
  side.each = blocks == 0 ? 0 : whole.bytes() / blocks;
  side.bytes = whole.bytes();
  return side;
}

/// Are the blocks consecutive? Empty ones may have any address.
bool follow_one_another(const std::vector<HierarchicalSide::Block>& blocks) {
  const std::byte* next = nullptr;
  for (const HierarchicalSide::Block& block : blocks) {
    if (block.bytes == 0) continue;
    if (next != nullptr && block.address != next) return false;
    next = block.address + block.bytes;
  }
  return true;
}

std::byte* first_address(const std::vector<HierarchicalSide::Block>& blocks) {
  const auto first =
      std::find_if(blocks.begin(), blocks.end(),
                   [](const HierarchicalSide::Block& block) { return block.bytes > 0; });
  return first == blocks.end() ? nullptr : first->address;
}

HierarchicalSide side_of(const std::vector<TypedBlock>& blocks, std::byte* packed) {
  HierarchicalSide side;
  for (const TypedBlock& block : blocks) {
    auto* address = packed == nullptr ? static_cast<std::byte*>(block.address) : packed;
    side.blocks.push_back({address, block.bytes()});
    side.bytes += block.bytes();
    if (packed != nullptr) packed += block.bytes();
  }
  if (follow_one_another(side.blocks)) side.base = first_address(side.blocks);
  return side;
}

/// Are all blocks contiguous? The types of empty ones do not matter.
bool are_contiguous(const std::vector<TypedBlock>& blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [](const TypedBlock& block) {
    return block.bytes() == 0 || block.info.contiguous;
  });
}

/// Is a buffer missing? It would be read as zeros. With types that have gaps, null is MPI_BOTTOM.
bool is_nowhere(const TypedBlock& block) {
  return block.bytes() > 0 && block.address == nullptr && block.info.contiguous;
}

/// The root's block for a rank.
TypedBlock block_of(const GatherScatterCall& call, Rank rank) {
  auto* base = static_cast<std::byte*>(call.root_buffer);
  return {base + call.blocks.displacement(rank) * call.root_info.extent, call.blocks.count(rank),
          call.root_type, call.root_info};
}

/// Describes the root's buffer.
int root_side(const GatherScatterCall& call, int p, SideMemory& memory,
              HierarchicalCall& hierarchical) {
  const bool gathers = is_gather(call.collective);
  HierarchicalSide& side = gathers ? hierarchical.receive : hierarchical.send;
  if (call.blocks.are_equal()) {
    TypedBlock whole = block_of(call, 0);
    whole.count *= p;
    return gathers ? memory.receive(whole, p, side) : memory.send(whole, p, side);
  }
  std::vector<TypedBlock> blocks;
  for (Rank rank = 0; rank < p; ++rank) blocks.push_back(block_of(call, rank));
  return gathers ? memory.receive(blocks, side) : memory.send(blocks, side);
}

}  // namespace

bool can_be_inner_buffers(const HierarchicalCall& hierarchical) {
  const auto can_be = [](const HierarchicalSide& side) {
    return side.bytes == 0 || (side.base != nullptr && side.bytes <= max_node_memory);
  };
  return can_be(hierarchical.send) && can_be(hierarchical.receive);
}

/// Allocates staging. Null instead of an exception if memory is short: others need this rank's part
/// all the same.
std::byte* SideMemory::more(Bytes bytes) {
  memory_.emplace_back(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]());
  return memory_.back().get();
}

/// Allocates staging for the blocks, and packs them if they are sent.
int SideMemory::hold(const std::vector<TypedBlock>& blocks, bool sends, std::byte*& packed) {
  Bytes bytes = 0;
  for (const TypedBlock& block : blocks) bytes += block.bytes();
  packed = more(bytes);
  if (packed == nullptr) return MPI_ERR_NO_MEM;
  std::byte* at = packed;
  for (const TypedBlock& block : blocks) {
    if (block.bytes() == 0) continue;
    if (!sends) unpacked_.push_back({block, at});
    if (sends) {
      if (const int error = transport_.copy(region_of(block), held_region(block, at))) return error;
    }
    at += block.bytes();
  }
  return MPI_SUCCESS;
}

int SideMemory::hold_side(const TypedBlock& whole, int blocks, bool sends, HierarchicalSide& side) {
  if (is_nowhere(whole)) return MPI_ERR_BUFFER;
  auto* base = static_cast<std::byte*>(whole.address);
  const int error = whole.info.contiguous ? MPI_SUCCESS : hold({whole}, sends, base);
  if (error == MPI_SUCCESS) side = equal_side(base, whole, blocks);
  return error;
}

int SideMemory::hold_side(const std::vector<TypedBlock>& blocks, bool sends,
                          HierarchicalSide& side) {
  if (std::any_of(blocks.begin(), blocks.end(), is_nowhere)) return MPI_ERR_BUFFER;
  std::byte* packed = nullptr;
  const int error = are_contiguous(blocks) ? MPI_SUCCESS : hold(blocks, sends, packed);
  if (error == MPI_SUCCESS) side = side_of(blocks, packed);
  return error;
}

int SideMemory::part(HierarchicalSide& side, int blocks) {
  const Bytes bytes = side.bytes;
  std::byte* at = more(bytes);
  if (at == nullptr) {
    side = {};
    return MPI_ERR_NO_MEM;
  }
  side.visit({0, blocks}, 0, bytes, [&at](const std::byte* from, Bytes part) {
    if (from != nullptr) at = std::copy_n(from, part, at);
  });
  at = memory_.back().get();
  side.base = at;
  for (HierarchicalSide::Block& block : side.blocks) {
    block.address = at;
    at += block.bytes;
  }
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

int describe(const GatherScatterCall& call, Rank rank, int p, bool is_dummy, SideMemory& memory,
             HierarchicalCall& hierarchical) {
  const bool at_root = rank == call.root;
  const bool gathers = is_gather(call.collective);
  HierarchicalProblem& plain = hierarchical.call;
  plain.collective = call.collective;
  plain.root = call.root;
  hierarchical.is_dummy = is_dummy;
  hierarchical.own_sizes.assign(
      static_cast<std::size_t>(size_exchange_words(call.collective, p, at_root)), 0);
  if (is_dummy) return MPI_SUCCESS;

  const bool in_place = call.in_place();
  const TypedBlock own =
      in_place ? block_of(call, rank)
               : TypedBlock{call.block_buffer, call.block_count, call.block_type, call.block_info};
  const bool regular = !is_irregular(call.collective);
  plain.sizes.each = at_root && regular ? block_of(call, 0).bytes() : own.bytes();
  const bool count_mismatches = regular && plain.sizes.each != own.bytes();
  if (!hierarchical.own_sizes.empty()) {
    hierarchical.own_sizes[0] = own.bytes();
    for (Rank other = 0; at_root && other < p; ++other) {
      hierarchical.own_sizes[static_cast<std::size_t>(other) + 1] = block_of(call, other).bytes();
    }
  }
  int error = MPI_SUCCESS;
  if (count_mismatches) {
    error = MPI_ERR_TRUNCATE;
  } else if (gathers) {
    error = memory.send(own, 1, hierarchical.send);
  } else if (!in_place) {
    error = memory.receive(own, 1, hierarchical.receive);
  }
  if (at_root && error == MPI_SUCCESS) error = root_side(call, p, memory, hierarchical);
  plain.direct = !in_place && error == MPI_SUCCESS && can_be_inner_buffers(hierarchical);
  return error;
}

}  // namespace tutti
