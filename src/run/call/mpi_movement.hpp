/// The callers' buffers of collectives without a root's side.
#pragma once

#include "run/call/mpi_blocks.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Area::own is the send side, Area::all the receive side (see place_movement).
class MovementBuffers final : public Buffers {
 public:
  /// `runs` is memory to work in that is kept from call to call.
  MovementBuffers(const CollectiveCall& call, const Order& order, std::byte* scratch, Runs& runs)
      : call_(call), order_(order), scratch_(scratch), runs_(runs) {}

  int find(const Place& place, Region& region) override;
  /// Between scratch and dense blocks, block by block.
  bool copy(const Place& from, const Place& to) override;

 private:
  [[nodiscard]] const CallSide& side(Area area) const {
    return area == Area::own ? call_.send : call_.receive;
  }
  /// The rank that a block of one side is for or from.
  [[nodiscard]] Rank rank_of(int block, Area area) const;
  /// The buffer that the place is in, and its blocks there as runs.
  TypedBuffer find_runs(const Place& place);

  const CollectiveCall& call_;
  const Order& order_;
  std::byte* scratch_;
  Runs& runs_;
  MadeTypes made_;
};

}  // namespace tutti
