/// The steps of all ranks as one graph.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// A step of a schedule, or an operation of a program, that is wrong whatever the timing.
struct Flaw {
  Rank rank = no_rank;
  StepId step = -1;  ///< of that rank; -1: no single one
  std::string text;
};

/// The step in words, e.g. "recv from 3".
[[nodiscard]] std::string describe(const Step& step);

/// Steps or operations of ranks 0..p-1, each a node, which of them wait for others, and which of
/// them are the two ends of a message. Reuses its memory between uses.
class FlowGraph {
 public:
  using Node = int;
  static constexpr Node none = -1;

  /// What an execution must know of a node.
  struct Task {
    bool waits = false;  ///< until those of its rank from `first` to `last` have completed
    int first = 0;
    int last = 0;
    int slots = 0;        ///< see Step
    Node partner = none;  ///< the matching node of a peer
  };

  void clear();
  /// Adds the nodes of the next rank.
  void add_rank(std::size_t steps);
  /// `reader` starts after `writer` has completed.
  void add_need(Node reader, Node writer);
  void add_send(Node node, Rank to, int stream = 0) {
    sends_.push_back({rank_of(node), to, stream, node});
  }
  void add_recv(Node node, Rank from, int stream = 0) {
    recvs_.push_back({from, rank_of(node), stream, node});
  }
  /// Pairs the n-th send of a stream from one rank to another with the n-th receive there. Returns
  /// a node without a partner, or none. O(n log n) for n messages.
  [[nodiscard]] Node pair_messages();
  [[nodiscard]] Task& task(Node node) { return tasks_[index(node)]; }

  [[nodiscard]] const Task& task(Node node) const { return tasks_[index(node)]; }
  [[nodiscard]] int p() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] int nodes() const { return static_cast<int>(tasks_.size()); }
  [[nodiscard]] Node node(Rank rank, StepId step) const { return first_[index(rank)] + step; }
  /// The first node after those of a rank.
  [[nodiscard]] Node end(Rank rank) const { return first_[index(rank) + 1]; }
  [[nodiscard]] Rank rank_of(Node node) const { return rank_of_[index(node)]; }
  [[nodiscard]] StepId step_of(Node node) const { return node - first_[index(rank_of(node))]; }
  [[nodiscard]] StepId steps(Rank rank) const { return end(rank) - node(rank, 0); }
  [[nodiscard]] Node partner(Node node) const { return task(node).partner; }
  /// By node, the number of nodes that it needs.
  [[nodiscard]] const std::vector<int>& needs() const { return needs_; }
  /// Calls visit(Node) for each node that needs `writer`.
  template <class Visit>
  void for_each_reader(Node writer, Visit visit) const {
    for (int edge = first_edge_[index(writer)]; edge >= 0; edge = edges_[index(edge)].next) {
      visit(edges_[index(edge)].reader);
    }
  }

 private:
  struct Edge {
    Node reader;
    int next;
  };
  struct End {
    Rank from;
    Rank to;
    int stream;
    Node node;
    friend auto operator<=>(const End&, const End&) = default;
  };

  std::vector<Task> tasks_;
  std::vector<Node> first_ = {0};  ///< by rank; then the end
  std::vector<Rank> rank_of_;
  std::vector<int> needs_;
  std::vector<int> first_edge_;
  std::vector<Edge> edges_;
  std::vector<End> sends_;
  std::vector<End> recvs_;
};

/// The schedules of ranks 0..p-1, each step a node. Pairs sends with receives and notifications
/// with awaits. A step needs the earlier ones that write blocks that it reads, those that read or
/// write blocks that it changes, and its `after`. Refers to the schedules, which must outlive it
/// and be as ScheduleBuilder makes them.
class StepGraph : public FlowGraph {
 public:
  /// Returns a step without a partner, or none. O(steps log steps), plus for each rank the product
  /// of its receives and sends.
  [[nodiscard]] Node build(std::span<const Schedule> schedules);

  [[nodiscard]] Rank root() const { return schedules_.front().root; }
  [[nodiscard]] const Step& step(Node node) const {
    return schedules_[index(rank_of(node))].steps[index(step_of(node))];
  }
  /// E.g. "step 2 (recv from 3)".
  [[nodiscard]] std::string in_words(Node node) const {
    return "step " + std::to_string(step_of(node)) + " (" + describe(step(node)) + ")";
  }

 private:
  void add_steps(const Schedule& schedule);
  void add_needs(Node reader);
  /// For reductions, whose blocks change: `node` needs the earlier steps that write its blocks and,
  /// if it writes, those that read them. It stops at a step that writes all of its blocks, because
  /// that step needs the ones before.
  void add_conflicts(Node node, bool writes);
  void add_one_sided(Node node);

  std::span<const Schedule> schedules_;
  std::vector<Node> writers_;  ///< of the rank being added
  std::vector<Node> readers_;  ///< of the rank being added, in reductions
  /// By peer: the puts and notifications of the rank being added since the last flush.
  std::map<Rank, std::vector<Node>> pending_;
};

/// The same schedules, step by step, with a message of the same blocks for each notification, for
/// code that handles only messages. Puts, flushes and notifications without bytes become copies
/// without effect. The result lacks the round trips of flushes; its messages wait for receivers,
/// and data starts with the notification.
[[nodiscard]] std::vector<Schedule> as_messages(std::span<const Schedule> schedules);

}  // namespace tutti
