/// The callers' buffers of collectives without a root's side.
#pragma once

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Area::send is the send side, Area::receive the receive side (see lower_movement).
class MovementBuffers final : public Buffers {
 public:
  /// `iov` is memory to work in that is kept from call to call.
  MovementBuffers(const CollectiveCall& call, const Order& order, std::byte* scratch, Iov& iov)
      : call_(call), order_(order), scratch_(scratch), iov_(iov) {}

  int find(const BufferRef& place, Region& region) override;
  /// Between scratch and contiguous blocks, block by block.
  bool copy(const BufferRef& from, const BufferRef& to) override;

 private:
  [[nodiscard]] const CallSide& side(Area area) const {
    return area == Area::send ? call_.send : call_.receive;
  }
  /// The rank that a block of one side is for or from.
  [[nodiscard]] Rank rank_of(int block, Area area) const;
  /// The buffer that the place is in, and its blocks there as runs.
  TypedBuffer find_iov(const BufferRef& place);

  const CollectiveCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Iov& iov_;
  MadeTypes made_;
};

}  // namespace tutti
