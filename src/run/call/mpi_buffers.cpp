/// Finds the memory of the blocks of a gather or scatter.
#include "run/call/mpi_buffers.hpp"

#include "run/transport/mpi_transport.hpp"

namespace tutti {

namespace {
constexpr Bytes scratch_worth_keeping = Bytes{16} << 20;

void* at(void* address, Bytes offset) { return static_cast<std::byte*>(address) + offset; }
}  // namespace

std::byte* Scratch::reserve(Bytes bytes) {
  if (bytes > size_) {
    memory_ = nullptr;
    size_ = 0;
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    size_ = bytes;
  }
  return memory_.get();
}

void Scratch::trim() {
  if (size_ <= scratch_worth_keeping) return;
  memory_ = nullptr;
  size_ = 0;
}

bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled) {
  if (blocks.are_equal()) return are_shuffled && blocks.count(0) * element < packed_block;
  bool scattered = are_shuffled;
  Bytes elements = blocks.count(0);
  for (Rank rank = 1; rank < p; ++rank) {
    scattered = scattered ||
                blocks.displacement(rank) != blocks.displacement(rank - 1) + blocks.count(rank - 1);
    elements += blocks.count(rank);
  }
  return scattered && elements * element < packed_block * p;
}

int MpiBuffers::find(const BufferRef& ref, Region& region) {
  if (ref.bytes == 0) {
    region = {};
    return 0;
  }
  if (ref.area == Area::staging) {
    region = {at(scratch_, ref.offset), ref.bytes, 0};
    return 0;
  }
  if (ref.area != root_area()) {
    region = call_.block_info.contiguous
                 ? Region{at(call_.block_buffer, ref.offset), ref.bytes, 0}
                 : Region{call_.block_buffer, call_.block_count, region_type(call_.block_type)};
    return 0;
  }
  find_iov(ref.blocks);
  return made_.find(root_buffer(), iov_, ref, region);
}

bool MpiBuffers::copy(const BufferRef& from, const BufferRef& to) {
  const bool unpacks = from.area == Area::staging && to.area == root_area();
  const bool packs = from.area == root_area() && to.area == Area::staging;
  if (!call_.root_info.contiguous || !(packs || unpacks)) return false;
  const BufferRef& blocks = packs ? from : to;
  find_iov(blocks.blocks);
  return copy_packed(root_buffer(), iov_, scratch_ + (packs ? to.offset : from.offset),
                     blocks.bytes, packs);
}

void MpiBuffers::find_iov(const Blocks& blocks) {
  iov_.clear();
  blocks.for_each_run([&](BlockRange range) {
    for (auto position = static_cast<Position>(range.begin); position < range.end; ++position) {
      const Rank rank = order_.rank_at(position);
      const MPI_Aint extent = call_.root_info.extent;
      append_iov(iov_, call_.blocks.displacement(rank) * extent, call_.blocks.count(rank), extent);
    }
  });
}

}  // namespace tutti
