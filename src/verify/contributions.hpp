/// What reductions make of blocks: whose contributions are in each, at each rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "schedule/graph.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// What is wrong, in the terms of schedules.
struct Finding {
  Rank rank = no_rank;
  StepId step = -1;
  int block = -1;  ///< by position, where blocks have positions
  std::string text;
};

/// The value of each block at each rank, as the set of the ranks whose contributions are combined
/// in it. Two values may be combined if no contribution is in both and, where the operation does
/// not commute, all ranks of the left one are below all of the right one: then the final value is
/// the combination of all contributions in the sequence of ranks. Keeps its memory.
class Contributions {
 public:
  using Node = StepGraph::Node;

  /// Every rank holds its own contribution to every block. The graph must outlive the execution.
  void start(const Contract& contract, const StepGraph& graph);
  /// The message that `send` begins has arrived.
  void move(Node send);
  /// The reduce `node` has completed.
  [[nodiscard]] std::optional<Finding> combine(Node node);
  /// What is wrong with a block at a rank that must have all contributions to it.
  [[nodiscard]] std::optional<Finding> check_all(Rank rank, int block) const;

 private:
  using Set = RankSets::Set;

  [[nodiscard]] Set& held(Rank rank, int block) {
    return held_[static_cast<std::size_t>(rank) * blocks_ + static_cast<std::size_t>(block)];
  }

  Contract contract_;
  const StepGraph* graph_ = nullptr;
  std::size_t blocks_ = 0;
  RankSets sets_;
  std::vector<Set> held_;          ///< by rank and block
  std::vector<Set> staged_;        ///< the blocks of each message received aside
  std::vector<std::size_t> kept_;  ///< by node: where its blocks begin in staged_
};

}  // namespace tutti
