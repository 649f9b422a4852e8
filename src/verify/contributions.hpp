/// The values of reductions: the contributions in each block at each rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "schedule/graph.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// A fault, in the terms of schedules.
struct Finding {
  Rank rank = no_rank;
  StepId step = -1;
  BlockIndex block = -1;  ///< by position, if blocks have positions
  std::string text;
};

/// The value of each block at each rank, as the set of ranks whose contributions it combines. Two
/// values may be combined if no contribution is in both. If the operation does not commute, all
/// ranks of the left value must also be below all of the right one; the final value then combines
/// its contributions in the sequence of ranks. Reuses its memory between starts.
class Contributions {
 public:
  using Node = StepGraph::Node;

  /// Starts with every rank's own contribution to every block. The graph must outlive the
  /// execution.
  void start(const Contract& contract, const StepGraph& graph);
  /// Moves the values of the message of `send` to its receiver.
  void move(Node send);
  /// Combines the values of the reduce `node`. Returns a fault, if there is one.
  [[nodiscard]] std::optional<Finding> combine(Node node);
  /// The fault of a block at a rank whose result it must be, if there is one.
  [[nodiscard]] std::optional<Finding> check_result(Rank rank, BlockIndex block) const;

 private:
  using Set = RankSets::Set;

  [[nodiscard]] Set& held(Rank rank, BlockIndex block) {
    return held_[static_cast<std::size_t>(rank) * blocks_ + static_cast<std::size_t>(block)];
  }

  Contract contract_;
  const StepGraph* graph_ = nullptr;
  std::size_t blocks_ = 0;
  RankSets sets_;
  std::vector<Set> held_;          ///< by rank and block
  std::vector<Set> staged_;        ///< the blocks of each message in staging memory
  std::vector<std::size_t> kept_;  ///< by node: the index of its first block in staged_
};

}  // namespace tutti
