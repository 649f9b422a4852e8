/// Finds the memory of blocks, and the regions of several.
#include "run/call/mpi_buffers.hpp"

#include <cstring>
#include <new>

#include "run/process.hpp"

namespace tutti {

namespace {

constexpr Bytes scratch_worth_keeping = Bytes{16} << 20;

void* at(void* address, MPI_Aint offset) { return static_cast<std::byte*>(address) + offset; }

/// Appends elements to the iov; joins them to its last range if they follow that without a gap.
void append_iov(Iov& iov, MPI_Aint displacement, MPI_Count count, MPI_Aint extent) {
  if (count == 0) return;
  if (!iov.empty() &&
      iov.back().first + static_cast<MPI_Aint>(iov.back().second) * extent == displacement) {
    iov.back().second += count;
  } else {
    iov.emplace_back(displacement, count);
  }
}

/// Copies the elements in `iov` of a contiguous buffer to (`packs`) or from packed memory. False if
/// they are not `bytes` long.
bool copy_packed(const CallSide& buffer, const Iov& iov, std::byte* packed, Bytes bytes,
                 bool packs) {
  MPI_Count elements = 0;
  for (const auto& [displacement, count] : iov) elements += count;
  if (elements * buffer.info.extent != bytes) return false;
  for (const auto& [displacement, count] : iov) {
    void* const range = at(buffer.address, displacement);
    const auto length = static_cast<std::size_t>(count * buffer.info.extent);
    if (packs) {
      std::memcpy(packed, range, length);
    } else {
      std::memcpy(range, packed, length);
    }
    packed += length;
  }
  return true;
}

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

void Scratch::leave() {
  leak(memory_);
  size_ = 0;
}

HostCopies::~HostCopies() {
  if (is_in_use_()) leak(memory_);
}

std::byte* HostCopies::reserve(Bytes bytes) {
  return memory_.emplace_back(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]())
      .get();
}

int HostCopies::send(const Region& users, const Region& copy) {
  return users.count == 0 ? MPI_SUCCESS : transport_.copy(users, copy);
}

int HostCopies::finish() {
  for (const auto& [users, copy] : received_) {
    if (users.count == 0) continue;
    if (const int error = transport_.copy(copy, users)) return error;
  }
  return MPI_SUCCESS;
}

bool packing_pays(const RankBlocks& blocks, Bytes element, int p, bool are_shuffled) {
  if (blocks.are_equal()) return are_shuffled && blocks.count(0) * element < packed_block;
  return blocks.total(p) * element < packed_block * p && (are_shuffled || blocks.are_scattered(p));
}

bool has_one_block(Collective collective, Area area) {
  const CollectiveProperties& properties = properties_of(collective);
  if (properties.blocks != BlockKind::ranks) return properties.blocks == BlockKind::parts;
  return (area == Area::send ? properties.before : properties.after) == Holders::own;
}

Rank CallBuffers::rank_of(BlockIndex block, Area area) const {
  const bool is_pair = block_kind(call_.collective) == BlockKind::pairs;
  const BlockIndex at = !is_pair             ? block
                        : area == Area::send ? block % order_.size()
                                             : block / order_.size();
  return order_.rank_at(static_cast<Position>(at));
}

CallSide CallBuffers::find_iov(const BufferRef& ref) {
  CallSide found = side(ref.area);
  iov_.clear();
  if (has_one_block(call_.collective, ref.area)) {
    append_iov(iov_, 0, found.blocks.count(0), found.info.extent);
    return found;
  }
  ref.blocks.for_each_run([&](BlockRange range) {
    for (BlockIndex block = range.begin; block < range.end; ++block) {
      const Rank rank = rank_of(block, ref.area);
      // Blocks of different types are never in one BufferRef.
      found.type = found.type_for(rank);
      found.info = found.info_for(rank);
      append_iov(iov_, found.displacement(rank), found.blocks.count(rank), found.info.extent);
    }
  });
  return found;
}

/// The part `ref` of the blocks in iov_: one region if the iov has one range, else all ranges by an
/// indexed datatype (Träff 2017, section 3).
int CallBuffers::find_in(const CallSide& buffer, const BufferRef& ref, Region& region) {
  if (iov_.size() != 1) {
    IndexedType& type = made_.emplace_back();
    const int error = type.make(buffer.type, iov_);
    region = {buffer.address, 1, handle_bits(type.handle())};
    return error;
  }
  const auto& [displacement, count] = iov_.front();
  if (!buffer.info.contiguous) {
    region = {at(buffer.address, displacement), count, handle_bits(buffer.type)};
    return MPI_SUCCESS;
  }
  // Whole blocks have this rank's own length, even if the sender's size exchange said more.
  const Bytes bytes = ref.whole ? count * buffer.info.extent : ref.bytes;
  region = {at(buffer.address, displacement + static_cast<MPI_Aint>(ref.offset)), bytes, 0};
  return MPI_SUCCESS;
}

int CallBuffers::find(const BufferRef& ref, Region& region) {
  if (ref.bytes == 0) {
    region = {};
    return MPI_SUCCESS;
  }
  if (ref.area == Area::staging) {
    region = {scratch_ + ref.offset, ref.bytes, 0};
    return MPI_SUCCESS;
  }
  return find_in(find_iov(ref), ref, region);
}

bool CallBuffers::copy(const BufferRef& from, const BufferRef& to) {
  const bool packs = to.area == Area::staging;
  if (packs == (from.area == Area::staging)) return false;
  const BufferRef& blocks = packs ? from : to;
  if (blocks.blocks.range.count() == 1 || has_one_block(call_.collective, blocks.area))
    return false;
  const CallSide buffer = find_iov(blocks);
  if (!buffer.info.contiguous) return false;
  return copy_packed(buffer, iov_, scratch_ + (packs ? to.offset : from.offset), blocks.bytes,
                     packs);
}

}  // namespace tutti
