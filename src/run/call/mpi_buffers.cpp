/// Finding the memory of blocks.
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
  bool torn = are_shuffled;
  Bytes elements = blocks.count(0);
  for (Rank rank = 1; rank < p; ++rank) {
    torn =
        torn || blocks.displacement(rank) != blocks.displacement(rank - 1) + blocks.count(rank - 1);
    elements += blocks.count(rank);
  }
  return torn && elements * element < packed_block * p;
}

int MpiBuffers::find(const Place& place, Region& region) {
  if (place.bytes == 0) {
    region = {};
    return 0;
  }
  switch (place.area) {
    case Area::scratch:
      region = {at(scratch_, place.offset), place.bytes, 0};
      return 0;
    case Area::own:
      region = call_.own_info.dense
                   ? Region{at(call_.own, place.offset), place.bytes, 0}
                   : Region{call_.own, call_.own_count, region_type(call_.own_type)};
      return 0;
    case Area::all:
      break;
  }
  find_runs(place.blocks);
  return made_.find(all(), runs_, place, region);
}

bool MpiBuffers::copy(const Place& from, const Place& to) {
  const bool unpacks = from.area == Area::scratch && to.area == Area::all;
  const bool packs = from.area == Area::all && to.area == Area::scratch;
  if (!call_.all_info.dense || !(packs || unpacks)) return false;
  const Place& blocks = packs ? from : to;
  find_runs(blocks.blocks);
  return copy_packed(all(), runs_, scratch_ + (packs ? to.offset : from.offset), blocks.bytes,
                     packs);
}

void MpiBuffers::find_runs(const Blocks& blocks) {
  runs_.clear();
  blocks.for_each_run([&](BlockRange run) {
    for (Position position = run.begin; position < run.end; ++position) {
      const Rank rank = order_.rank_at(position);
      const MPI_Aint extent = call_.all_info.extent;
      append_run(runs_, call_.blocks.displacement(rank) * extent, call_.blocks.count(rank), extent);
    }
  });
}

}  // namespace tutti
