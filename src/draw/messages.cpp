/// Assigns messages to rounds.
#include "draw/messages.hpp"

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>

#include "schedule/graph.hpp"
#include "schedule/one_sided.hpp"

namespace tutti {

namespace {

/// A ready message goes to the first round with free ports; the steps that need it become ready
/// after that round.
class Rounds {
 public:
  Rounds(const StepGraph& graph, Collective collective)
      : graph_(graph),
        by_receiver_(flows_to_root(collective)),
        ports_(has_two_ports(collective) ? 2 : 1),
        free_(static_cast<std::size_t>(graph.p()) * 2, 1),
        entered_(static_cast<std::size_t>(graph.nodes()), false) {
    flow_.start(graph);
  }

  Result<std::vector<Message>> run() {
    for (enter_posted(0); !ready_.empty() || !running_.empty();) {
      if (ready_.empty()) {
        finish_round();
      } else {
        assign(ready_.top().send);
        ready_.pop();
      }
    }
    if (!flow_.all_done()) return flow_.deadlock();
    std::sort(done_.begin(), done_.end(), [](const Message& a, const Message& b) {
      return std::tie(a.round, a.from, a.to, a.send) < std::tie(b.round, b.from, b.to, b.send);
    });
    return done_;
  }

 private:
  using Node = StepGraph::Node;
  struct Entry {
    int round;
    StepId sequence;
    Node send;
    /// Reversed, so the top of a priority queue is the earliest entry.
    bool operator<(const Entry& other) const {
      return std::tie(round, sequence, send) > std::tie(other.round, other.sequence, other.send);
    }
  };

  void enter_posted(int round) {
    for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
      const Node other = graph_.partner(node);
      if (other == StepGraph::none) flow_.complete(node);  // a local step
      if (other == StepGraph::none || !flow_.is_posted(other)) continue;
      const bool sends = graph_.step(node).kind == StepKind::send;
      const Node send = sends ? node : other;
      if (entered_[static_cast<std::size_t>(send)]) continue;
      entered_[static_cast<std::size_t>(send)] = true;
      const Node ordering = by_receiver_ ? graph_.partner(send) : send;
      ready_.push({round + 1, graph_.step_of(ordering), send});
    }
  }

  void assign(Node send) {
    const Node recv = graph_.partner(send);
    Message message{graph_.rank_of(send), graph_.rank_of(recv),    graph_.step_of(send),
                    graph_.step_of(recv), graph_.step(send).bytes, 0};
    int& sender = free_[static_cast<std::size_t>(message.from) * 2];
    int& receiver = free_[static_cast<std::size_t>(message.to) * 2 + (ports_ == 2 ? 1 : 0)];
    message.round = std::max({ready_.top().round, sender, receiver});
    sender = receiver = message.round + 1;
    running_.push({message.round, 0, send});
    done_.push_back(message);
  }

  void finish_round() {
    const int round = running_.top().round;
    for (; !running_.empty() && running_.top().round == round; running_.pop()) {
      flow_.complete(running_.top().send);
      flow_.complete(graph_.partner(running_.top().send));
    }
    enter_posted(round);
  }

  const StepGraph& graph_;
  Flow flow_;
  bool by_receiver_;
  int ports_;                  ///< per rank: 1 for both directions, or 1 for each
  std::vector<int> free_;      ///< two per rank: the next round in which the port is free
  std::vector<bool> entered_;  ///< by send: is or was ready
  std::priority_queue<Entry> ready_;
  std::priority_queue<Entry> running_;
  std::vector<Message> done_;
};

}  // namespace

Result<std::vector<Message>> messages(std::span<const Schedule> schedules) {
  if (has_one_sided_steps(schedules)) return messages(as_messages(schedules));
  StepGraph graph;
  if (const auto flaw = graph.build(schedules)) {
    return Error{"rank " + std::to_string(flaw->rank) + ", step " + std::to_string(flaw->step) +
                 ": " + flaw->text};
  }
  return Rounds(graph, schedules.empty() ? Collective::gather : schedules.front().collective).run();
}

}  // namespace tutti
