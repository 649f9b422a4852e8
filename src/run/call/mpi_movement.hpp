/// The caller's buffers in collectives other than gathers, scatters and reductions.
#pragma once

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Area::send is the send side, Area::receive the receive side (see lower_movement).
class MovementBuffers final : public Buffers {
 public:
  /// `iov` is working memory that is kept from call to call.
  MovementBuffers(const CollectiveCall& call, const Order& order, std::byte* scratch, Iov& iov)
      : call_(call), order_(order), scratch_(scratch), iov_(iov) {}

  int find(const BufferRef& ref, Region& region) override;
  /// Copies between scratch and contiguous blocks, block by block.
  bool copy(const BufferRef& from, const BufferRef& to) override;

 private:
  [[nodiscard]] const CallSide& side(Area area) const {
    return area == Area::send ? call_.send : call_.receive;
  }
  /// The rank that a block of one side goes to or comes from.
  [[nodiscard]] Rank rank_of(BlockIndex block, Area area) const;
  /// The buffer of `ref`; sets iov_ to the address ranges of its blocks there.
  TypedBuffer find_iov(const BufferRef& ref);

  const CollectiveCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Iov& iov_;
  MadeTypes made_;
};

}  // namespace tutti
