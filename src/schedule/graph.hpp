/// The steps of all ranks as one graph, and its execution: what the verifier, the price and the
/// simulation have in common.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// A step that makes no sense, wherever its rank is told to go on.
struct Flaw {
  Rank rank = no_rank;
  StepId step = -1;
  std::string text;
};

/// The step in words, e.g. "recv from 3".
[[nodiscard]] std::string describe(const Step& step);

/// The schedules of ranks 0..p-1 with each step as a node: which sends and receives belong
/// together, or notifications and awaits, and which receives a step needs for the blocks that it
/// reads. Refers to the schedules, which must outlive it. Keeps its memory from build to build.
class StepGraph {
 public:
  using Node = int;
  static constexpr Node none = -1;

  /// The n-th send from one rank to another belongs to the n-th receive there. Returns a step
  /// with operands out of range, or without a partner. O(steps log steps), and for each rank the
  /// product of its receives and sends.
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
  /// The other end of a message; none for a step that is local to its rank.
  [[nodiscard]] Node partner(Node node) const { return partner_[index(node)]; }
  /// How many earlier steps a step needs: they write what it reads, read or write what it changes,
  /// or it is said to come after.
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
  /// Where blocks change: `node` needs the earlier steps that write what it touches and, if it
  /// writes, those that read it. Those before one that writes all of it are needed by that one.
  void add_turns(Node node, bool writes);
  void add_need(Node reader, Node writer);
  void add_one_sided(Node node);
  [[nodiscard]] std::optional<Flaw> pair_messages();
  [[nodiscard]] Flaw unpaired(const End& end) const;

  std::span<const Schedule> schedules_;
  std::vector<Node> first_;  ///< by rank, and the end
  std::vector<Rank> rank_of_;
  std::vector<Node> partner_;
  std::vector<int> needs_;
  std::vector<int> first_edge_;
  std::vector<Edge> edges_;
  std::vector<Node> writers_;  ///< of the rank being added
  std::vector<Node> readers_;  ///< the same, where blocks change
  /// By peer: the puts and notifications of the rank being added that no flush has ended.
  std::map<Rank, std::vector<Node>> pending_;
  std::vector<End> sends_;
  std::vector<End> recvs_;
};

/// One execution of a graph. Knows which steps may be posted; when they complete is for its user
/// to say. Waits complete by themselves. Keeps its memory from start to start.
class Flow {
 public:
  using Node = StepGraph::Node;

  /// Posts all steps that need nothing. The graph must outlive the execution.
  void start(const StepGraph& graph);
  /// Completes a posted step, and posts those that needed nothing else.
  void complete(Node node);
  /// Takes a step that has been posted since, in the sequence of posting; none when there is none.
  [[nodiscard]] Node take_posted() {
    if (taken_ == posted_.size()) return StepGraph::none;
    return posted_[taken_++];
  }

  [[nodiscard]] bool all_done() const { return open_ == 0; }
  [[nodiscard]] bool is_done(Node node) const {
    return state_[static_cast<std::size_t>(node)] == State::done;
  }
  [[nodiscard]] bool is_posted(Node node) const {
    return state_[static_cast<std::size_t>(node)] >= State::posted;
  }
  /// An unfinished step that keeps this unfinished one from being posted or completed: the other
  /// end of its message, a step named by a wait that it stands behind, one that has a slot, or one
  /// that it needs.
  [[nodiscard]] Node obstacle(Node node) const;
  /// What to say when nothing can happen any more before all is done: names the first step that is
  /// not.
  [[nodiscard]] Error deadlock() const;

 private:
  enum class State : std::uint8_t { closed, reached, posted, done };

  void advance(Rank rank);
  void finish(Node node);
  void post(Node node);

  const StepGraph* graph_ = nullptr;
  std::vector<State> state_;
  std::vector<int> needs_;
  std::vector<StepId> gate_;      ///< by rank: the wait it stands before, or its number of steps
  std::vector<int> remaining_;    ///< by rank: steps that this wait still waits for
  std::vector<int> slots_taken_;  ///< by rank
  std::map<Rank, std::deque<Node>> queues_;  ///< whose needs are met, waiting for a slot
  std::vector<Node> posted_;
  std::size_t taken_ = 0;
  int open_ = 0;
};

}  // namespace tutti
