/// Finds the memory of the blocks of two sides.
#include "run/call/mpi_movement.hpp"

namespace tutti {

Rank MovementBuffers::rank_of(BlockIndex block, Area area) const {
  const bool is_pair = block_kind(call_.collective) == BlockKind::pairs;
  const BlockIndex at = !is_pair             ? block
                        : area == Area::send ? block % order_.size()
                                             : block / order_.size();
  return order_.rank_at(static_cast<Position>(at));
}

TypedBuffer MovementBuffers::find_iov(const BufferRef& ref) {
  const CallSide& buffer = side(ref.area);
  TypedBuffer typed = {buffer.address, buffer.type, buffer.info};
  iov_.clear();
  // One vector, or the one block that this rank sends to all.
  const BlockKind kind = block_kind(call_.collective);
  if (kind == BlockKind::parts || (kind == BlockKind::ranks && ref.area == Area::send)) {
    append_iov(iov_, 0, buffer.blocks.count(0), buffer.info.extent);
    return typed;
  }
  ref.blocks.for_each_run([&](BlockRange range) {
    for (BlockIndex block = range.begin; block < range.end; ++block) {
      const Rank rank = rank_of(block, ref.area);
      if (buffer.types != nullptr) {
        // Blocks of different types are never in one BufferRef.
        typed.type = buffer.types[rank];
        typed.info = buffer.infos[rank];
      }
      append_iov(iov_, buffer.displacement(rank), buffer.blocks.count(rank), typed.info.extent);
    }
  });
  return typed;
}

int MovementBuffers::find(const BufferRef& ref, Region& region) {
  if (ref.bytes == 0) {
    region = {};
    return MPI_SUCCESS;
  }
  if (ref.area == Area::staging) {
    region = {scratch_ + ref.offset, ref.bytes, 0};
    return MPI_SUCCESS;
  }
  const TypedBuffer buffer = find_iov(ref);
  return made_.find(buffer, iov_, ref, region);
}

bool MovementBuffers::copy(const BufferRef& from, const BufferRef& to) {
  const bool packs = to.area == Area::staging;
  if (packs == (from.area == Area::staging)) return false;
  const BufferRef& blocks = packs ? from : to;
  if (blocks.blocks.range.count() == 1 || call_.collective == Collective::bcast) return false;
  const TypedBuffer buffer = find_iov(blocks);
  if (!buffer.info.contiguous) return false;
  return copy_packed(buffer, iov_, scratch_ + (packs ? to.offset : from.offset), blocks.bytes,
                     packs);
}

}  // namespace tutti
