/// Longest paths through schedules, and closed forms.
#include "cost/pricing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <queue>
#include <vector>

#include "core/index.hpp"
#include "schedule/graph.hpp"
#include "schedule/one_sided.hpp"

namespace tutti {

namespace {

using Node = StepGraph::Node;

bool is_rendezvous(PriceModel model) {
  return model == PriceModel::hockney || model == PriceModel::overlapped;
}

/// Event simulation: steps become ready, their rank serves them one after the other, and they end.
class Pricing {
 public:
  Pricing(const StepGraph& graph, const Machine& machine, PriceModel model,
          std::span<const double> arrivals)
      : graph_(graph),
        machine_(machine),
        rendezvous_(is_rendezvous(model)),
        overlaps_(model == PriceModel::overlapped),
        two_ports_(graph.p() > 0 && has_two_ports(graph.collective())),
        arrivals_(arrivals),
        ends_(index(graph.nodes()), 0),
        met_(index(graph.nodes()), 0),
        ranks_(index(graph.p())) {
    if (model == PriceModel::logp) machine_.per_byte = 0;
  }

  Result<double> run() {
    double last = arrivals_.empty() ? 0 : *std::max_element(arrivals_.begin(), arrivals_.end());
    flow_.start(graph_);
    note_posted(0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      last = std::max(last, event.time);
      handle(event);
    }
    if (flow_.all_done()) return last;
    return flow_.deadlock();
  }

 private:
  enum class Kind : std::uint8_t { over, arrived, ready };
  struct Event {
    double time = 0;
    Kind kind = Kind::ready;
    StepId sequence = 0;  ///< events of one time are served in the sequence of the schedules
    Node node = StepGraph::none;
    friend auto operator<=>(const Event&, const Event&) = default;
  };
  struct RankState {
    double processor = 0;  ///< when it is free; under rendezvous the port, or the send port
    double receiver = 0;   ///< under rendezvous: when the receive port is free, if ranks have two
    double next_send = 0;  ///< when the gap after the last send ends
    double next_recv = -std::numeric_limits<double>::infinity();
  };

  void handle(const Event& event) {
    switch (event.kind) {
      case Kind::over:
        flow_.complete(event.node);
        if (rendezvous_ && graph_.partner(event.node) != StepGraph::none) {
          flow_.complete(graph_.partner(event.node));
        }
        return note_posted(event.time);
      case Kind::arrived:
        return meet(event.node, event.time);
      case Kind::ready:
        break;
    }
    if (rendezvous_) return transfer(event.node, event.time);
    switch (graph_.step(event.node).kind) {
      case StepKind::send:
      case StepKind::put:
      case StepKind::notify:
        return send(event.node, event.time);
      case StepKind::await:
        return await(event.node, event.time);
      default:
        return recv(event.node, event.time);
    }
  }

  void note_posted(double now) {
    for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
      const Node partner = graph_.partner(node);
      const bool sends = graph_.step(node).kind == StepKind::send;
      const double posted = std::max(now, arrival(node));
      const StepKind kind = graph_.step(node).kind;
      if (kind == StepKind::flush) {
        const double back = reached_[end_of(node)] + machine_.serving + wire();
        events_.push({std::max(posted, back), Kind::over, 0, node});
      } else if (kind == StepKind::put || kind == StepKind::notify) {
        add_ready(node, posted);
      } else if (partner == StepGraph::none) {
        events_.push({posted, Kind::over, 0, node});
      } else if (rendezvous_) {
        meet(sends ? node : partner, posted);
      } else if (sends) {
        add_ready(node, posted);
      } else {
        meet(node, posted);
      }
    }
  }

  /// The earliest start of a step.
  [[nodiscard]] double arrival(Node node) const {
    if (arrivals_.empty() || graph_.step(node).runner == Runner::background) return 0;
    return arrivals_[index(graph_.rank_of(node))];
  }

  /// Handles one of the two conditions of `node`: both ends of a rendezvous are ready, or a receive
  /// is posted and its message has arrived.
  void meet(Node node, double now) {
    double& met = met_[index(node)];
    met = std::max(met, now);
    if (++ends_[index(node)] == 2) add_ready(node, met);
  }

  void add_ready(Node node, double now) {
    const StepId other = rendezvous_ ? graph_.step_of(graph_.partner(node)) : 0;
    events_.push({now, Kind::ready, std::max(graph_.step_of(node), other), node});
  }

  void transfer(Node send, double now) {
    RankState& from = ranks_[index(graph_.rank_of(send))];
    RankState& to = ranks_[index(graph_.rank_of(graph_.partner(send)))];
    double& receiver = two_ports_ ? to.receiver : to.processor;
    const double bytes = machine_.per_byte * static_cast<double>(graph_.step(send).bytes);
    if (overlaps_ && bytes == 0) return signal(send, now, from.processor, receiver);
    const double start = std::max({now, from.processor, receiver});
    from.processor = receiver = start + start_up() + bytes;
    events_.push({start + machine_.latency + bytes, Kind::over, 0, send});
  }

  /// A message without bytes overtakes blocks in transfer and delays the blocks after it.
  void signal(Node send, double now, double& sender, double& receiver) {
    sender = std::max(now, sender) + start_up();
    receiver = std::max(now, receiver) + start_up();
    events_.push({now + machine_.latency, Kind::over, 0, send});
  }

  /// The time for which a message occupies its ends, apart from its bytes.
  [[nodiscard]] double start_up() const {
    if (!overlaps_) return machine_.latency;
    return std::min(machine_.latency, std::max(machine_.overhead, machine_.gap));
  }

  /// The time on the wire of the bytes after the first.
  [[nodiscard]] double rest(Node node) const {
    const Step& step = graph_.step(node);
    if (step.kind == StepKind::notify && !step.carries) return 0;
    return machine_.per_byte * static_cast<double>(std::max<Bytes>(step.bytes - 1, 0));
  }
  [[nodiscard]] double wire() const {
    return std::max(machine_.latency - 2 * machine_.overhead, 0.0);
  }
  /// The rank of `node`, and the peer whose memory it accesses.
  [[nodiscard]] std::pair<Rank, Rank> end_of(Node node) const {
    return {graph_.rank_of(node), graph_.step(node).peer};
  }

  void send(Node node, double now) {
    RankState& rank = ranks_[index(graph_.rank_of(node))];
    const double start = std::max({now, rank.processor, rank.next_send});
    rank.processor = start + machine_.overhead;
    rank.next_send = start + std::max(machine_.gap, machine_.overhead) + rest(node);
    const double sent = rank.processor + rest(node);
    events_.push({sent, Kind::over, 0, node});
    if (is_one_sided(graph_.step(node).kind)) {
      double& reached = reached_[end_of(node)];
      reached = std::max(reached, sent + wire());
    }
    if (graph_.partner(node) == StepGraph::none) return;
    events_.push({sent + wire(), Kind::arrived, 0, graph_.partner(node)});
  }

  void await(Node node, double now) {
    // The root counts completions in a word of its memory, without polling.
    const bool polls =
        !graph_.step(node).blocks.range.empty() || graph_.rank_of(node) != graph_.root();
    events_.push({now + (polls ? machine_.polling : 0), Kind::over, 0, node});
  }

  void recv(Node node, double now) {
    RankState& rank = ranks_[index(graph_.rank_of(node))];
    const double start = std::max({now, rank.processor, rank.next_recv + rest(node)});
    rank.processor = start + machine_.overhead;
    rank.next_recv = start + std::max(machine_.gap, machine_.overhead);
    events_.push({rank.processor, Kind::over, 0, node});
  }

  const StepGraph& graph_;
  Machine machine_;
  bool rendezvous_;
  bool overlaps_;
  bool two_ports_;
  Flow flow_;
  std::span<const double> arrivals_;
  std::vector<int> ends_;
  std::vector<double> met_;                          ///< by node: when its first condition was met
  std::map<std::pair<Rank, Rank>, double> reached_;  ///< when a rank's last put reaches a peer
  std::vector<RankState> ranks_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Result<double> price(std::span<const Schedule> schedules, const Machine& machine, PriceModel model,
                     std::span<const double> arrivals) {
  if (is_rendezvous(model) && has_one_sided_steps(schedules)) {
    return price(as_messages(schedules), machine, model, arrivals);
  }
  if (!arrivals.empty() && arrivals.size() != schedules.size()) {
    return Error{std::to_string(arrivals.size()) + " arrivals for " +
                 std::to_string(schedules.size()) + " ranks"};
  }
  StepGraph graph;
  if (const auto flaw = graph.build(schedules)) {
    return Error{"rank " + std::to_string(flaw->rank) + ", step " + std::to_string(flaw->step) +
                 ": " + flaw->text};
  }
  return Pricing(graph, machine, model, arrivals).run();
}

Times linear_times(int p, Bytes block, const Machine& machine) {
  const double message = machine.latency + machine.per_byte * static_cast<double>(block);
  return {(p - 1) * message, (p + 2) * (p - 1) * message / (2 * p)};
}

Times linear_sync_times(int p, Bytes block, const Machine& machine) {
  Machine thrice = machine;
  thrice.latency *= 3;
  return linear_times(p, block, thrice);
}

Times binomial_scatter_times(int p, Bytes block, const Machine& machine) {
  const double rounds = std::bit_width(static_cast<unsigned>(p - 1));
  const double run =
      rounds * machine.latency + (p - 1) * machine.per_byte * static_cast<double>(block);
  return {run, run};
}

Times binomial_gather_times(int p, Bytes block, const Machine& machine) {
  const double rounds = std::bit_width(static_cast<unsigned>(p - 1));
  const double bytes = static_cast<double>(block) * p;
  return {binomial_scatter_times(p, block, machine).run,
          (2 * (p - 1) * machine.latency + rounds * machine.per_byte * bytes) / p};
}

}  // namespace tutti
