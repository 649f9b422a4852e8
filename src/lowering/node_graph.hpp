/// The operations of programs that share node memory, as a graph.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/nodes.hpp"
#include "lowering/program.hpp"
#include "schedule/flow.hpp"

namespace tutti {

/// A program, and where its rank is.
struct PlacedProgram {
  const Program* program = nullptr;
  int node = 0;
  int local = 0;
};
[[nodiscard]] std::vector<PlacedProgram> placed(std::span<const Program> programs,
                                                const Nodes& nodes);

/// The programs of all ranks of a call, or of some that stand for all; they must outlive it. An
/// operation needs the one before, an await also the signals, and the operation after a collective
/// between nodes the calls of all its members. Ranks are numbered as the programs are given.
class NodeGraph : public FlowGraph {
 public:
  /// The calls that are one collective between nodes, by node.
  using Meeting = std::vector<Node>;

  explicit NodeGraph(std::vector<PlacedProgram> ranks);

  [[nodiscard]] const PlacedProgram& place(Rank rank) const { return ranks_[index(rank)]; }
  [[nodiscard]] const Operation& operation(Node node) const {
    return place(rank_of(node)).program->operations[index(step_of(node))];
  }
  [[nodiscard]] const InnerCall& call(Node node) const {
    return place(rank_of(node)).program->calls[index(operation(node).call)];
  }
  /// The n-th calls of a lane meet. Ascending by lane, then by n.
  [[nodiscard]] const std::vector<Meeting>& meetings() const { return meetings_; }
  /// The index of a call's meeting.
  [[nodiscard]] std::size_t meeting_of(Node call) const { return meeting_of_.at(call); }

  /// Calls visit(rank, operation) for each rank that an await awaits: its first operation that
  /// signals as much, as no earlier one shows it. -1: the call before does. The number of its
  /// operations: none does.
  template <class Visit>
  void for_each_signal(Node await, Visit visit) const {
    const Operation& awaits = operation(await);
    for (int local = awaits.first; local < awaits.last; ++local) {
      const auto rank = at_.find({place(rank_of(await)).node, local});
      if (rank != at_.end()) visit(rank->second, signal_of(rank->second, awaits.sequence));
    }
  }

  /// The nodes that can complete, each after those that it needs.
  [[nodiscard]] std::vector<Node> sequence() const;

 private:
  [[nodiscard]] int signal_of(Rank rank, int sequence) const;

  std::vector<PlacedProgram> ranks_;
  std::map<std::pair<int, int>, Rank> at_;                 ///< by node and local rank
  std::vector<std::vector<std::pair<int, int>>> signals_;  ///< by rank: sequence and operation
  std::vector<Meeting> meetings_;
  std::map<Node, std::size_t> meeting_of_;
};

}  // namespace tutti
