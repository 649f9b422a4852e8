/// Finding the memory of blocks.
#include "run/mpi_buffers.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "run/mpi_transport.hpp"

namespace tutti {

namespace {
constexpr Bytes scratch_worth_keeping = Bytes{16} << 20;

/// Bytes of a block up to which copying it takes less than what an indexed datatype costs for it.
constexpr Bytes packed_block = 256;

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

bool packing_pays(const RootBlocks& blocks, Bytes element, int p, bool are_shuffled) {
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

MpiBuffers::~MpiBuffers() {
  if (made_.empty()) return;
  const auto alone = alone_with_types();
  for (MPI_Datatype& type : made_) mpi().Type_free(&type);
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
  return find_among_all(place, region);
}

bool MpiBuffers::copy(const Place& from, const Place& to) {
  const bool unpacks = from.area == Area::scratch && to.area == Area::all;
  const bool packs = from.area == Area::all && to.area == Area::scratch;
  if (!call_.all_info.dense || !(packs || unpacks)) return false;
  const Place& blocks = packs ? from : to;
  find_runs(blocks.blocks);
  MPI_Count elements = 0;
  for (const auto& [displacement, count] : runs_) elements += count;
  const MPI_Aint extent = call_.all_info.extent;
  if (elements * extent != blocks.bytes) return false;
  std::byte* packed = scratch_ + (packs ? to.offset : from.offset);
  for (const auto& [displacement, count] : runs_) {
    void* const run = at(call_.all, displacement * extent);
    const auto bytes = static_cast<std::size_t>(count * extent);
    if (packs) {
      std::memcpy(packed, run, bytes);
    } else {
      std::memcpy(run, packed, bytes);
    }
    packed += bytes;
  }
  return true;
}

void MpiBuffers::find_runs(const Blocks& blocks) {
  runs_.clear();
  blocks.for_each_run([&](BlockRange run) { append_run(run); });
}

int MpiBuffers::find_among_all(const Place& place, Region& region) {
  const MPI_Aint extent = call_.all_info.extent;
  find_runs(place.blocks);
  if (runs_.size() == 1) {
    if (call_.all_info.dense) {
      // Whole blocks are as long as the root says, whatever a rank that sends more has announced.
      const Bytes bytes = place.whole ? runs_.front().second * extent : place.bytes;
      region = {at(call_.all, runs_.front().first * extent + place.offset), bytes, 0};
      return 0;
    }
    region = {at(call_.all, runs_.front().first * extent), runs_.front().second,
              region_type(call_.all_type)};
    return 0;
  }
  return indexed(extent, region);
}

/// Appends the blocks at `positions`, joining those that follow one another in the buffer.
void MpiBuffers::append_run(BlockRange positions) {
  for (Position position = positions.begin; position < positions.end; ++position) {
    const Rank rank = order_.rank_at(position);
    const MPI_Count count = call_.blocks.count(rank);
    const MPI_Aint displacement = call_.blocks.displacement(rank);
    if (count == 0) continue;
    if (!runs_.empty() && runs_.back().first + runs_.back().second == displacement) {
      runs_.back().second += count;
    } else {
      runs_.emplace_back(displacement, count);
    }
  }
}

int MpiBuffers::indexed(MPI_Aint extent, Region& region) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const auto& [displacement, count] : runs_) {
    for (MPI_Count done = 0; done < count; done += INT_MAX) {
      lengths.push_back(static_cast<int>(std::min<MPI_Count>(INT_MAX, count - done)));
      places.push_back((displacement + static_cast<MPI_Aint>(done)) * extent);
    }
  }
  const auto alone = alone_with_types();
  MPI_Datatype type{};
  int error = mpi().Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                         places.data(), call_.all_type, &type);
  if (error != MPI_SUCCESS) return error;
  made_.push_back(type);
  error = mpi().Type_commit(&made_.back());
  region = {call_.all, 1, region_type(made_.back())};
  return error;
}

}  // namespace tutti
