/// Appends operations to a program, each with those that it needs.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "lowering/call_blocks.hpp"

namespace tutti {

/// Values that one buffer reference names, and where they go.
struct Piece {
  Blocks blocks;
  Spot from;
  Spot to;
  Bytes bytes = 0;
};

/// An operation needs the earlier ones that write bytes that it uses, or use bytes that it writes,
/// unless a wait before it covers them.
class ProgramBuilder {
 public:
  ProgramBuilder(const CallBlocks& blocks, Bytes padding) : blocks_(blocks), memory_(padding) {}

  /// The operations from here on belong to the next step.
  void begin_step() { first_operation_.push_back(count()); }
  [[nodiscard]] std::size_t steps() const { return first_operation_.size(); }

  /// A copy or a reduce. Reductions run it by the caller, as is a copy from the send buffer.
  void add_local(OperationKind kind, const Piece& piece, Runner runner);
  /// A send or receive of the step's values, or a segment of them. `spot` is where they begin.
  void add_message(const Step& step, Spot spot);
  /// A wait. Memory that only completed operations have used is free from here on.
  void add_wait(const Step& step);

  [[nodiscard]] MemoryUse& memory() { return memory_; }
  /// True if a datatype may describe this memory, and so any blocks in it.
  [[nodiscard]] bool is_typed(Spot spot) const {
    return !blocks_.are_vectors() && memory_.area(spot) != Area::staging;
  }
  [[nodiscard]] Program done();

 private:
  [[nodiscard]] int count() const { return static_cast<int>(program_.operations.size()); }
  Operation& append(OperationKind kind, Runner runner);
  void end_operation();
  BufferRef use(const Blocks& blocks, Spot spot, Bytes offset, Bytes bytes, bool writes);
  void complete(int operation);

  const CallBlocks& blocks_;
  MemoryUse memory_;
  std::vector<int> first_operation_;       ///< by step
  std::vector<char> completed_;            ///< by operation, at the last wait
  int all_completed_ = 0;                  ///< all operations before this one are completed
  std::map<Rank, std::vector<int>> sent_;  ///< operations, by peer
  std::map<Rank, std::vector<int>> received_;
  Program program_;
};

}  // namespace tutti
