/// One execution of the graph of all ranks' steps.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "schedule/graph.hpp"

namespace tutti {

/// One execution of a graph. It finds the steps that can be posted; its user reports their
/// completion. Waits complete by themselves. Reuses its memory between starts.
class Flow {
 public:
  using Node = FlowGraph::Node;

  /// Posts all steps without needs. The graph must outlive the execution.
  void start(const FlowGraph& graph);
  /// Completes a posted step, and posts the steps whose last need it was.
  void complete(Node node);
  /// Takes the next posted step, in the sequence of posting; none if all have been taken.
  [[nodiscard]] Node take_posted() {
    if (taken_ == posted_.size()) return FlowGraph::none;
    return posted_[taken_++];
  }

  [[nodiscard]] bool all_done() const { return unfinished_ == 0; }
  [[nodiscard]] bool is_done(Node node) const { return state_[index(node)] == State::done; }
  [[nodiscard]] bool is_posted(Node node) const { return state_[index(node)] >= State::posted; }
  /// An unfinished step that keeps this unfinished one from being posted or completed: its partner,
  /// a step that a wait before it names, a step that holds a slot, or one that it needs.
  [[nodiscard]] Node obstacle(Node node) const;
  /// A step that can never complete, and the circle of steps that it waits for, each in words. Some
  /// steps are unfinished, and none can proceed.
  [[nodiscard]] Flaw deadlock(const std::function<std::string(Node)>& in_words) const;

 private:
  enum class State : std::uint8_t { closed, reached, posted, done };

  void advance(Rank rank);
  void finish(Node node);
  void post(Node node);

  const FlowGraph* graph_ = nullptr;
  std::vector<State> state_;
  std::vector<int> needs_;
  std::vector<StepId> gate_;       ///< by rank: its first unfinished wait, or its number of steps
  std::vector<StepId> all_done_;   ///< by rank: no step before it is left; waits need not look
  std::vector<int> remaining_;     ///< by rank: unfinished steps that this wait names
  std::vector<int> slots_in_use_;  ///< by rank
  std::map<Rank, std::deque<Node>> queues_;  ///< steps whose needs are met but that have no slot
  std::vector<Node> posted_;
  std::size_t taken_ = 0;
  int unfinished_ = 0;
};

}  // namespace tutti
