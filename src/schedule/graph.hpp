/// The steps of all ranks as one graph.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// A step that is invalid in any execution.
struct Flaw {
  Rank rank = no_rank;
  StepId step = -1;
  std::string text;
};

/// The step in words, e.g. "recv from 3".
[[nodiscard]] std::string describe(const Step& step);

/// The schedules of ranks 0..p-1, each step a node. Pairs sends with receives and notifications
/// with awaits, and finds the steps that each step needs. Refers to the schedules, which must
/// outlive it. Reuses its memory between builds.
class StepGraph {
 public:
  using Node = int;
  static constexpr Node none = -1;

  /// Pairs the n-th send from one rank to another with the n-th receive there. Returns a step with
  /// operands out of range, without a partner, or whose partner expects other bytes, if there is
  /// one. O(steps log steps), plus for each rank the product of its receives and sends.
  [[nodiscard]] std::optional<Flaw> build(std::span<const Schedule> schedules);

  [[nodiscard]] int p() const { return static_cast<int>(schedules_.size()); }
  [[nodiscard]] Collective collective() const { return schedules_.front().collective; }
  [[nodiscard]] Rank root() const { return schedules_.front().root; }
  [[nodiscard]] int nodes() const { return static_cast<int>(rank_of_.size()); }
  [[nodiscard]] Node node(Rank rank, StepId step) const { return first_[index(rank)] + step; }
  [[nodiscard]] Rank rank_of(Node node) const { return rank_of_[index(node)]; }
  [[nodiscard]] StepId step_of(Node node) const { return node - first_[index(rank_of(node))]; }
  [[nodiscard]] StepId steps(Rank rank) const {
    return first_[index(rank) + 1] - first_[index(rank)];
  }
  [[nodiscard]] const Step& step(Node node) const {
    return schedules_[index(rank_of(node))].steps[index(step_of(node))];
  }
  /// The matching step of the peer; none for a step without one.
  [[nodiscard]] Node partner(Node node) const { return partner_[index(node)]; }
  /// By node, the number of earlier steps that it needs: those that write blocks that it reads,
  /// those that read or write blocks that it changes, and its `after`.
  [[nodiscard]] const std::vector<int>& needs() const { return needs_; }
  /// Calls visit(Node) for each later step that needs `writer`.
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
    bool notifies;  ///< messages and notifications have sequences of their own
    Node node;
    friend auto operator<=>(const End&, const End&) = default;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::optional<Flaw> add_rank(Rank rank);
  void add_needs(Node reader);
  /// For reductions, whose blocks change: `node` needs the earlier steps that write its blocks and,
  /// if it writes, those that read them. It stops at a step that writes all of its blocks, because
  /// that step needs the ones before.
  void add_conflicts(Node node, bool writes);
  void add_need(Node reader, Node writer);
  void add_one_sided(Node node);
  [[nodiscard]] std::optional<Flaw> pair_messages();
  [[nodiscard]] Flaw unpaired(const End& end) const;
  [[nodiscard]] Flaw unequal(Node send) const;

  std::span<const Schedule> schedules_;
  std::vector<Node> first_;  ///< by rank; then the end
  std::vector<Rank> rank_of_;
  std::vector<Node> partner_;
  std::vector<int> needs_;
  std::vector<int> first_edge_;
  std::vector<Edge> edges_;
  std::vector<Node> writers_;  ///< of the rank being added
  std::vector<Node> readers_;  ///< of the rank being added, in reductions
  /// By peer: the puts and notifications of the rank being added since the last flush.
  std::map<Rank, std::vector<Node>> pending_;
  std::vector<End> sends_;
  std::vector<End> recvs_;
};

}  // namespace tutti
