/// The state of ranks that execute level plans: what each has done and seen, and all their bytes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/hierarchical.hpp"
#include "verify/hierarchical_memory.hpp"

namespace tutti {

/// A rank between two of its steps.
struct LevelRank {
  int call = 0;
  int step = 0;
  int now = 1;      ///< steps done in all calls; one stands for all calls before
  int flag = 0;     ///< what the node's others see
  LevelClock seen;  ///< of each rank
  std::vector<std::pair<int, LevelClock>> raised;  ///< flag, and what the rank had seen then
  std::vector<LevelByte> send;
  std::vector<LevelByte> receive;
  bool entered = false;  ///< waits in the inner call of its step
};

/// Accesses to bytes by ranks, each checked. Everything is ignored after the first fault.
class LevelState {
 public:
  /// Before the call all ranks of a node have used all of its memory, each its own way, and their
  /// flags say that they are done.
  LevelState(const LevelCase& call, const Nodes& nodes, std::span<const LevelPlan> plans);

  [[nodiscard]] LevelRank& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::optional<LevelFault>& fault() const { return fault_; }
  /// Notes that the rank's step is wrong.
  void refuse(Rank rank, const std::string& text);

  [[nodiscard]] LevelByte read(Rank rank, Bytes byte);
  void write(Rank rank, Bytes byte, const LevelByte& value);
  /// A byte of the rank's receive side, which must not have been written before.
  void put(Rank rank, Bytes byte, const LevelByte& value);
  /// A byte of an inner call's send end.
  [[nodiscard]] LevelByte read_end(Rank rank, LevelArea area, Bytes byte);

  /// `left` op `right`.
  [[nodiscard]] LevelByte combined(Rank rank, const LevelByte& left, const LevelByte& right);
  /// What begins with `first` is whole elements.
  void check_elements(Rank rank, Bytes bytes, const LevelByte& first);
  /// The receive side has what the contract wants.
  void check_result(Rank rank);

  static void join(LevelClock& seen, const LevelClock& other);

 private:
  /// The blocks of a side as its rank brings them, or wants them but for the ranks in them.
  [[nodiscard]] std::vector<LevelByte> side(const BlockSeries& blocks, Rank rank) const;

  const LevelCase& call_;
  const Nodes& nodes_;
  std::vector<Bytes> origins_;  ///< by block, where it begins
  std::vector<LevelRank> ranks_;
  std::vector<LevelMemory> memory_;  ///< by node
  std::optional<LevelFault> fault_;
};

}  // namespace tutti
