/// The event loop of the replay.
#include "simulate/simulate.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "core/index.hpp"
#include "schedule/graph.hpp"
#include "schedule/one_sided.hpp"

namespace tutti {

namespace {

using Node = StepGraph::Node;

/// A message, named by its send. The order of members is the preference of ports.
struct Waiting {
  double ready = 0;
  StepId sequence = 0;  ///< the larger of the two step ids
  Node send = StepGraph::none;
  friend auto operator<=>(const Waiting&, const Waiting&) = default;
};

template <class T>
using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

class Replay {
 public:
  Replay(const StepGraph& graph, const Network& network, std::span<const double> arrivals)
      : graph_(graph), network_(network) {
    const std::size_t p = index(graph.p());
    timeline_.arrivals.assign(arrivals.begin(), arrivals.end());
    timeline_.arrivals.resize(p, 0);
    timeline_.exits = timeline_.arrivals;
    timeline_.busy.assign(p, 0);
    first_arrival_ = *std::min_element(timeline_.arrivals.begin(), timeline_.arrivals.end());
    posted_at_.assign(index(graph.nodes()), 0);
    met_.assign(index(graph.nodes()), 0);
    ports_.resize(2 * p);
  }

  Result<Timeline> run() {
    flow_.start(graph_);
    note_posted(first_arrival_);
    while (!events_.empty()) {
      // All events of one time are handled before new transfers start.
      const double now = events_.top().time;
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      start_transfers(now);
    }
    if (flow_.all_done()) return std::move(timeline_);
    return flow_.deadlock();
  }

 private:
  enum class Kind : std::uint8_t { ready, over };
  struct Event {
    double time = 0;
    Kind kind = Kind::ready;
    Node node = StepGraph::none;  ///< a send, or a step that is local to its rank
    friend auto operator<=>(const Event&, const Event&) = default;
  };
  struct Port {
    int in_use = 0;
    LeastFirst<Waiting> waiting;  ///< messages that found this port busy
  };
  struct Candidate {
    Waiting message;
    std::size_t port = 0;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  [[nodiscard]] std::size_t send_port(Node send) const { return 2 * index(graph_.rank_of(send)); }
  [[nodiscard]] std::size_t recv_port(Node send) const {
    const auto rank = index(graph_.rank_of(graph_.partner(send)));
    return 2 * rank + (network_.full_duplex ? 1 : 0);
  }
  [[nodiscard]] bool is_free(std::size_t port) const {
    return ports_[port].in_use < network_.ports;
  }

  /// Handles the steps that the flow has just posted.
  void note_posted(double now) {
    for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
      const double from = graph_.step(node).runner == Runner::background
                              ? first_arrival_
                              : timeline_.arrivals[index(graph_.rank_of(node))];
      posted_at_[index(node)] = std::max(now, from);
      const Node partner = graph_.partner(node);
      if (partner == StepGraph::none) {
        events_.push({posted_at_[index(node)], Kind::over, node});
      } else if (flow_.is_posted(partner) && met_[index(node)] == 0) {
        // If send and receive are posted together, both reach this line; count them once.
        met_[index(node)] = met_[index(partner)] = 1;
        meeting_.push_back(graph_.step(node).kind == StepKind::send ? node : partner);
      }
    }
    for (const Node send : meeting_) {
      const double ready =
          std::max(posted_at_[index(send)], posted_at_[index(graph_.partner(send))]);
      events_.push({ready, Kind::ready, send});
    }
    meeting_.clear();
  }

  void handle(const Event& event) {
    const Node node = event.node;
    if (event.kind == Kind::ready) {
      const Node recv = graph_.partner(node);
      ports_[send_port(node)].waiting.push(
          {event.time, std::max(graph_.step_of(node), graph_.step_of(recv)), node});
      touched_.push_back(send_port(node));
      return;
    }
    complete(node, event.time);
    if (const Node recv = graph_.partner(node); recv != StepGraph::none) {
      for (const std::size_t port : {send_port(node), recv_port(node)}) {
        --ports_[port].in_use;
        touched_.push_back(port);
      }
      complete(recv, event.time);
    }
    note_posted(event.time);
  }

  void complete(Node node, double now) {
    flow_.complete(node);
    double& exit = timeline_.exits[index(graph_.rank_of(node))];
    exit = std::max(exit, now);
  }

  /// Starts transfers at ports whose state has changed. A message that cannot start waits at a busy
  /// port and is considered again when that port is free.
  void start_transfers(double now) {
    LeastFirst<Candidate> candidates;
    const auto nominate = [&](std::size_t port) {
      if (!is_free(port) || ports_[port].waiting.empty()) return;
      candidates.push({ports_[port].waiting.top(), port});
      ports_[port].waiting.pop();
    };
    for (const std::size_t port : touched_) nominate(port);
    touched_.clear();
    while (!candidates.empty()) {
      const auto [message, port] = candidates.top();
      candidates.pop();
      const std::size_t other =
          port == send_port(message.send) ? recv_port(message.send) : send_port(message.send);
      if (is_free(port) && is_free(other)) {
        start_transfer(message.send, now);
      } else {
        ports_[is_free(port) ? other : port].waiting.push(message);
      }
      nominate(port);
    }
  }

  void start_transfer(Node send, double now) {
    const Node recv = graph_.partner(send);
    const Bytes bytes = graph_.step(send).bytes;
    const double duration =
        network_.links != nullptr
            ? network_.links->seconds(graph_.rank_of(send), graph_.rank_of(recv), bytes)
            : network_.latency + network_.per_byte * static_cast<double>(bytes);
    ++ports_[send_port(send)].in_use;
    ++ports_[recv_port(send)].in_use;
    timeline_.busy[index(graph_.rank_of(send))] += duration;
    timeline_.busy[index(graph_.rank_of(recv))] += duration;
    timeline_.transfers.push_back({graph_.rank_of(send), graph_.rank_of(recv), graph_.step_of(send),
                                   graph_.step_of(recv), bytes, now, now + duration});
    events_.push({now + duration, Kind::over, send});
  }

  const StepGraph& graph_;
  Network network_;
  Timeline timeline_;
  double first_arrival_ = 0;
  Flow flow_;
  std::vector<double> posted_at_;
  std::vector<char> met_;  ///< by node: send and receive of its message are posted
  std::vector<Node> meeting_;
  std::vector<Port> ports_;  ///< two per rank; half duplex uses the first
  std::vector<std::size_t> touched_;
  LeastFirst<Event> events_;
};

}  // namespace

double Timeline::run_time() const {
  return *std::max_element(exits.begin(), exits.end()) -
         *std::min_element(arrivals.begin(), arrivals.end());
}

double Timeline::elapsed() const {
  const double in_all = std::accumulate(exits.begin(), exits.end(), 0.0) -
                        std::accumulate(arrivals.begin(), arrivals.end(), 0.0);
  return in_all / static_cast<double>(exits.size());
}

double Timeline::spread() const {
  const auto [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
  return *last - *first;
}

double Timeline::idle(Rank rank) const {
  return exits[index(rank)] - *std::min_element(arrivals.begin(), arrivals.end()) -
         busy[index(rank)];
}

Result<Timeline> simulate(std::span<const Schedule> schedules, const Network& network,
                          std::span<const double> arrivals) {
  if (has_one_sided_steps(schedules)) return simulate(as_messages(schedules), network, arrivals);
  if (schedules.empty()) return Error{"no schedules; a simulation needs those of all ranks"};
  if (!arrivals.empty() && arrivals.size() != schedules.size()) {
    return Error{std::to_string(arrivals.size()) + " arrivals for " +
                 std::to_string(schedules.size()) + " ranks"};
  }
  if (network.links != nullptr && index(network.links->size()) != schedules.size()) {
    return Error{"distances between " + std::to_string(network.links->size()) +
                 " ranks for the schedules of " + std::to_string(schedules.size())};
  }
  if (network.ports < 1)
    return Error{std::to_string(network.ports) + " ports; expected at least 1"};
  StepGraph graph;
  if (const auto flaw = graph.build(schedules)) {
    return Error{"rank " + std::to_string(flaw->rank) + ", step " + std::to_string(flaw->step) +
                 ": " + flaw->text};
  }
  return Replay(graph, network, arrivals).run();
}

}  // namespace tutti
