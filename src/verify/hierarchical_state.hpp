/// The state of ranks that execute hierarchical plans: what each has done and seen, and all their
/// bytes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/hierarchical.hpp"
#include "verify/hierarchical_memory.hpp"

namespace tutti {

/// A rank between two of its steps.
struct HierarchicalRank {
  int call = 0;
  int step = 0;
  int now = 1;             ///< steps done in all calls; 1 stands for all calls before
  int signal = 0;          ///< the value that others of the node see
  HierarchicalClock seen;  ///< steps seen of each rank
  std::vector<std::pair<int, HierarchicalClock>> signalled;  ///< value, and the rank's clock then
  std::vector<NodeByte> send;
  std::vector<NodeByte> receive;
  bool entered = false;  ///< waits in the inner call of its step
};

/// Accesses to bytes by ranks, each checked. Only the first fault is kept.
class HierarchicalState {
 public:
  /// Before the call all ranks of a node have used all of its memory, each for itself, and their
  /// signals show that they are done.
  HierarchicalState(const HierarchicalCase& call, const Nodes& nodes,
                    std::span<const HierarchicalPlan> plans);

  [[nodiscard]] HierarchicalRank& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::optional<HierarchicalFault>& fault() const { return fault_; }
  /// Records that the rank's step is wrong.
  void refuse(Rank rank, const std::string& text);

  [[nodiscard]] NodeByte read(Rank rank, Bytes byte);
  void write(Rank rank, Bytes byte, const NodeByte& value);
  /// Writes a byte of the rank's receive buffer, which must not have been written before.
  void put(Rank rank, Bytes byte, const NodeByte& value);
  /// Reads a byte of an inner call's send buffer.
  [[nodiscard]] NodeByte read_end(Rank rank, HierarchicalArea area, Bytes byte);

  /// `left` op `right`.
  [[nodiscard]] NodeByte combined(Rank rank, const NodeByte& left, const NodeByte& right);
  /// Checks that `bytes` bytes that begin with `first` are whole elements.
  void check_elements(Rank rank, Bytes bytes, const NodeByte& first);
  /// Checks the receive buffer against the contract.
  void check_result(Rank rank);

  static void join(HierarchicalClock& seen, const HierarchicalClock& other);

 private:
  /// The bytes of a buffer's blocks, in reductions with the contribution of `rank` alone.
  [[nodiscard]] std::vector<NodeByte> side(const BlockSeries& blocks, Rank rank) const;

  const HierarchicalCase& call_;
  const Nodes& nodes_;
  std::vector<Bytes> origins_;  ///< by block, where it begins
  std::vector<HierarchicalRank> ranks_;
  std::vector<HierarchicalMemory> memory_;  ///< by node
  std::optional<HierarchicalFault> fault_;
};

}  // namespace tutti
