/// The order that signals, and collectives between nodes, impose on the operations of all ranks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowering/node_graph.hpp"
#include "verify/program_order.hpp"

namespace tutti {

/// Bytes that a member of a collective between nodes receives from a member. With `combines`,
/// consecutive transfers to the same member are combined in sequence.
struct InnerTransfer {
  ByteAccess source;
  ByteAccess target;
  bool combines = false;
};

/// Follows the programs of ranks that share node memory, whose operations run in sequence. The
/// order does not depend on timing, so it covers all interleavings.
class NodeOrder {
 public:
  using Fault = std::optional<Flaw>;
  using Node = NodeGraph::Node;

  /// Finds the order. Returns the first fault, if any: signals that do not grow or end on different
  /// sequence numbers, members of a collective that disagree, operations that never complete. The
  /// call before is assumed to have used all node memory, and each rank's signal to show that the
  /// rank has left it. As every program ends with that signal, so does this call for the next one.
  /// O(operations * ranks).
  [[nodiscard]] Fault find(const Nodes& nodes, std::span<const Program> programs);

  /// Operations are numbered as in graph(). True if `first` is complete before `second` starts.
  [[nodiscard]] bool is_before(Node first, Node second) const {
    return clock(second, graph_->rank_of(first)) > graph_->step_of(first) + 1;
  }
  /// True if `rank` has left the call before when the operation starts.
  [[nodiscard]] bool has_left(Rank rank, Node operation) const {
    return clock(operation, rank) > 0;
  }
  [[nodiscard]] const NodeGraph& graph() const { return *graph_; }
  /// The transfers of a collective between nodes, the index of its meeting in graph().
  [[nodiscard]] std::span<const InnerTransfer> transfers(std::size_t meeting) const {
    return transfers_[meeting];
  }

 private:
  /// By rank, how many of its operations are complete, plus one once it has left the call before.
  using Clock = std::vector<int>;

  [[nodiscard]] int clock(Node node, Rank rank) const { return clocks_[index(node)][index(rank)]; }
  [[nodiscard]] Fault fault_at(Node node, const std::string& text) const;
  [[nodiscard]] Rank leader_of(int lane, int node) const;
  [[nodiscard]] Fault check_form(Rank rank);
  [[nodiscard]] Fault match(const NodeGraph::Meeting& meeting);
  void complete(Node node);
  void meet(std::size_t meeting);

  const Nodes* nodes_ = nullptr;
  std::optional<NodeGraph> graph_;
  std::vector<std::vector<InnerTransfer>> transfers_;  ///< by meeting
  std::vector<Clock> clocks_;                          ///< by operation, when it starts
  std::vector<Clock> seen_;  ///< by rank, after its last completed operation
};

}  // namespace tutti
