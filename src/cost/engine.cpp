/// The event loop of all time models.
#include "cost/engine.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "schedule/flow.hpp"

namespace tutti {

namespace {

using Node = StepGraph::Node;

constexpr double never = std::numeric_limits<double>::infinity();

template <class T>
using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

Error error_at(const StepGraph& graph, Node node, const std::string& text) {
  return {"rank " + std::to_string(graph.rank_of(node)) + ", " + graph.in_words(node) + text};
}

/// Steps become ready, their ranks serve them, and they end.
class Engine {
 public:
  Engine(const StepGraph& graph, const EngineModel& model, std::span<const double> arrivals,
         const EngineObserver& observer)
      : graph_(graph),
        model_(model),
        machine_(model.machine),
        arrivals_(arrivals),
        observer_(observer),
        ends_(index(graph.nodes()), 0),
        met_(index(graph.nodes()), 0),
        ranks_(index(graph.p())),
        ports_(is_greedy() ? 2 * index(graph.p()) : 0) {}

  std::optional<Error> run() {
    flow_.start(graph_);
    note_posted(model_.early);
    while (!events_.empty()) {
      // A free port chooses among all messages that are ready by then.
      const double now = events_.top().time;
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      start_waiting(now);
    }
    if (flow_.all_done()) return std::nullopt;
    const Flaw flaw = flow_.deadlock([&](Node node) { return graph_.in_words(node); });
    return error_at(graph_, graph_.node(flaw.rank, flaw.step), ": " + flaw.text);
  }

 private:
  enum class Kind : std::uint8_t { over, arrived, ready, awake };
  /// Greedy: of a message, named by its send. The order of members is also the preference of ranks
  /// and ports among those that are ready.
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
    double next_recv = -never;
    LeastFirst<Event> sends = {};  ///< eager: ready, but not begun
    LeastFirst<Event> recvs = {};
    double wakes = never;  ///< eager: when the next of these begins
  };
  struct Port {
    bool in_use = false;
    LeastFirst<Event> waiting;  ///< messages that found this port busy
  };

  [[nodiscard]] bool is_greedy() const { return model_.service == EngineModel::Service::greedy; }
  [[nodiscard]] bool is_rendezvous() const { return model_.service != EngineModel::Service::eager; }

  void handle(const Event& event) {
    if (event.kind == Kind::over) return finish(event.node, event.time);
    if (event.kind == Kind::arrived) return meet(event.node, event.time);
    if (is_greedy()) return wait(event);
    if (is_rendezvous()) return transfer(event.node, event.time);
    RankState& rank = ranks_[index(graph_.rank_of(event.node))];
    if (event.kind == Kind::ready) {
      const StepKind kind = graph_.step(event.node).kind;
      if (kind == StepKind::await) return await(event.node, event.time);
      auto& queue = kind == StepKind::recv ? rank.recvs : rank.sends;
      queue.push(event);
    } else if (rank.wakes == event.time) {
      rank.wakes = never;
    }
    serve(rank, event.node, event.time);
  }

  void finish(Node node, double now) {
    complete(node, now);
    const Node partner = graph_.partner(node);
    if (is_rendezvous() && partner != StepGraph::none) {
      if (is_greedy()) release_ports(node);
      complete(partner, now);
    }
    note_posted(now);
  }

  void complete(Node node, double now) {
    flow_.complete(node);
    if (observer_.done) observer_.done(graph_.rank_of(node), now);
  }

  void note_posted(double now) {
    for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
      const Node partner = graph_.partner(node);
      const StepKind kind = graph_.step(node).kind;
      const double posted = std::max(now, start_of(node));
      if (kind == StepKind::flush) {
        const double back = reached_[ends_of(node)] + machine_.serving + wire();
        events_.push({std::max(posted, back), Kind::over, 0, node});
      } else if (kind == StepKind::put || kind == StepKind::notify) {
        add_ready(node, posted);
      } else if (partner == StepGraph::none) {
        events_.push({posted, Kind::over, 0, node});
      } else if (is_rendezvous()) {
        meet(kind == StepKind::send ? node : partner, posted);
      } else if (kind == StepKind::send) {
        add_ready(node, posted);
      } else {
        meet(node, posted);
      }
    }
  }

  /// The earliest start of a step.
  [[nodiscard]] double start_of(Node node) const {
    if (graph_.step(node).runner == Runner::background) return model_.early;
    return arrivals_.empty() ? 0 : arrivals_[index(graph_.rank_of(node))];
  }

  /// Handles one of the two conditions of `node`: both ends of a rendezvous are ready, or a receive
  /// is posted and its message has arrived.
  void meet(Node node, double now) {
    double& met = met_[index(node)];
    met = ends_[index(node)] == 0 ? now : std::max(met, now);
    if (++ends_[index(node)] == 2) add_ready(node, met);
  }

  void add_ready(Node node, double now) { events_.push({now, Kind::ready, sequence(node), node}); }

  [[nodiscard]] StepId sequence(Node node) const {
    const StepId own = graph_.step_of(node);
    if (!is_rendezvous()) return own;
    const StepId other = graph_.step_of(graph_.partner(node));
    if (model_.tie == EngineModel::Tie::sender) return own;
    if (model_.tie == EngineModel::Tie::receiver) return other;
    return model_.tie == EngineModel::Tie::later ? std::max(own, other) : 0;
  }

  // Rendezvous in turn.

  void transfer(Node send, double now) {
    RankState& from = ranks_[index(graph_.rank_of(send))];
    RankState& to = ranks_[index(graph_.rank_of(graph_.partner(send)))];
    double& receiver = model_.two_ports ? to.receiver : to.processor;
    const double bytes = machine_.per_byte * static_cast<double>(graph_.step(send).bytes);
    if (model_.overlaps && bytes == 0) return signal(send, now, from.processor, receiver);
    const double start = std::max({now, from.processor, receiver});
    from.processor = receiver = start + start_up() + bytes;
    begin_transfer(send, start, start + machine_.latency + bytes);
  }

  /// A message without bytes overtakes blocks in transfer and delays the blocks after it.
  void signal(Node send, double now, double& sender, double& receiver) {
    sender = std::max(now, sender) + start_up();
    receiver = std::max(now, receiver) + start_up();
    begin_transfer(send, now, now + machine_.latency);
  }

  void begin_transfer(Node send, double start, double end) {
    events_.push({end, Kind::over, 0, send});
    if (!observer_.started) return;
    const Step& step = graph_.step(send);
    observer_.started({graph_.rank_of(send), step.peer, step.bytes, start, end, seconds(send)});
  }

  /// The time that a message takes once it has started.
  [[nodiscard]] double seconds(Node send) const {
    const Step& step = graph_.step(send);
    if (model_.links != nullptr) {
      return model_.links->seconds(graph_.rank_of(send), step.peer, step.bytes);
    }
    return machine_.latency + machine_.per_byte * static_cast<double>(step.bytes);
  }

  /// The time for which a message occupies its ends, apart from its bytes.
  [[nodiscard]] double start_up() const {
    if (!model_.overlaps) return machine_.latency;
    return std::min(machine_.latency, std::max(machine_.overhead, machine_.gap));
  }

  // Rendezvous, greedy.

  [[nodiscard]] std::size_t send_port(Node send) const { return 2 * index(graph_.rank_of(send)); }
  [[nodiscard]] std::size_t recv_port(Node send) const {
    return 2 * index(graph_.rank_of(graph_.partner(send))) + (model_.two_ports ? 1 : 0);
  }
  [[nodiscard]] bool is_free(std::size_t port) const { return !ports_[port].in_use; }

  void wait(const Event& message) {
    ports_[send_port(message.node)].waiting.push(message);
    touched_.push_back(send_port(message.node));
  }

  void release_ports(Node send) {
    for (const std::size_t port : {send_port(send), recv_port(send)}) {
      ports_[port].in_use = false;
      touched_.push_back(port);
    }
  }

  /// Starts transfers at ports whose state has changed. A message that cannot start waits at a busy
  /// port and is considered again when that port is free.
  void start_waiting(double now) {
    LeastFirst<std::pair<Event, std::size_t>> candidates;  // each with its port
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
          port == send_port(message.node) ? recv_port(message.node) : send_port(message.node);
      if (is_free(port) && is_free(other)) {
        ports_[port].in_use = ports_[other].in_use = true;
        begin_transfer(message.node, now, now + seconds(message.node));
      } else {
        ports_[is_free(port) ? other : port].waiting.push(message);
      }
      nominate(port);
    }
  }

  // Eager.

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
  [[nodiscard]] std::pair<Rank, Rank> ends_of(Node node) const {
    return {graph_.rank_of(node), graph_.step(node).peer};
  }

  /// Begins what can begin now. The processor is not kept for a step that waits for its gap: the
  /// step that can begin first does. `node` is any of the rank's.
  void serve(RankState& rank, Node node, double now) {
    while (!rank.sends.empty() || !rank.recvs.empty()) {
      const double send_at = rank.sends.empty() ? never : std::max(rank.processor, rank.next_send);
      const double recv_at =
          rank.recvs.empty()
              ? never
              : std::max(rank.processor, rank.next_recv + rest(rank.recvs.top().node));
      const double start = std::min(std::max(now, send_at), std::max(now, recv_at));
      if (start > now) {
        if (start < rank.wakes) events_.push({rank.wakes = start, Kind::awake, 0, node});
        return;
      }
      const bool can_both = send_at <= now && recv_at <= now;
      const bool sends = can_both ? rank.sends.top() < rank.recvs.top() : send_at <= now;
      auto& queue = sends ? rank.sends : rank.recvs;
      const Node next = queue.top().node;
      queue.pop();
      sends ? send(rank, next, now) : recv(rank, next, now);
    }
  }

  void send(RankState& rank, Node node, double start) {
    rank.processor = start + machine_.overhead;
    rank.next_send = start + std::max(machine_.gap, machine_.overhead) + rest(node);
    const double sent = rank.processor + rest(node);
    events_.push({sent, Kind::over, 0, node});
    if (is_one_sided(graph_.step(node).kind)) {
      double& reached = reached_[ends_of(node)];
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

  void recv(RankState& rank, Node node, double start) {
    rank.processor = start + machine_.overhead;
    rank.next_recv = start + std::max(machine_.gap, machine_.overhead);
    events_.push({rank.processor, Kind::over, 0, node});
  }

  const StepGraph& graph_;
  const EngineModel& model_;
  const Machine& machine_;
  std::span<const double> arrivals_;
  const EngineObserver& observer_;
  Flow flow_;
  std::vector<int> ends_;                            ///< by node: conditions that are met
  std::vector<double> met_;                          ///< by node: when the last of these was
  std::map<std::pair<Rank, Rank>, double> reached_;  ///< when a rank's last put reaches a peer
  std::vector<RankState> ranks_;
  std::vector<Port> ports_;  ///< greedy: two for each rank; with one for both directions the first
  std::vector<std::size_t> touched_;
  LeastFirst<Event> events_;
};

}  // namespace

std::optional<Error> execute(std::span<const Schedule> schedules, const EngineModel& model,
                             std::span<const double> arrivals, const EngineObserver& observer) {
  std::vector<Schedule> messages;
  if (model.service != EngineModel::Service::eager && !schedules.empty() &&
      is_one_sided(schedules.front().collective)) {
    schedules = messages = as_messages(schedules);
  }
  if (!arrivals.empty() && arrivals.size() != schedules.size()) {
    return Error{std::to_string(arrivals.size()) + " arrivals for " +
                 std::to_string(schedules.size()) + " ranks"};
  }
  StepGraph graph;
  const Node alone = graph.build(schedules);
  if (alone != StepGraph::none) return error_at(graph, alone, " has no partner");
  return Engine(graph, model, arrivals, observer).run();
}

}  // namespace tutti
