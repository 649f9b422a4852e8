/// Derives the rounds of an algorithm from its schedules or its shape.
#include "algorithms/traffic.hpp"

#include <algorithm>
#include <cassert>
#include <deque>

#include "algorithms/problems.hpp"
#include "schedule/graph.hpp"
#include "shapes/traffic.hpp"

namespace tutti {

namespace {

/// The reversed messages in reversed rounds.
Traffic backwards(Traffic traffic) {
  std::reverse(traffic.rounds.begin(), traffic.rounds.end());
  for (Traffic::Round& round : traffic.rounds) {
    for (Traffic::Message& message : round.messages) std::swap(message.from, message.to);
  }
  return traffic;
}

Traffic tree_traffic(Collective collective, int p, int k, Bytes block) {
  if (block_kind(collective) == BlockKind::parts) {
    const Traffic down = tree_bcast_traffic(p, k, block);
    return flows_to_root(collective) ? backwards(down) : down;
  }
  return flows_to_root(collective) ? tree_gather_traffic(p, k, block)
                                   : tree_scatter_traffic(p, k, block);
}

/// Executes schedules round by round.
class Rounds {
 public:
  explicit Rounds(const std::vector<Schedule>& schedules) {
    [[maybe_unused]] const auto flaw = graph_.build(schedules);
    assert(!flaw);
    traffic_.p = graph_.p();
    is_ready_.assign(static_cast<std::size_t>(graph_.nodes()), 0);
    flow_.start(graph_);
    for (take_posted(); !waiting_.empty(); take_posted()) run_round();
  }
  [[nodiscard]] Traffic done() { return std::move(traffic_); }

 private:
  using Node = StepGraph::Node;

  /// Completes local steps at once; they take no round.
  void take_posted() {
    const auto before = static_cast<std::ptrdiff_t>(waiting_.size());
    for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
      const Node other = graph_.partner(node);
      if (other == StepGraph::none) {
        flow_.complete(node);
      } else if (is_ready_[static_cast<std::size_t>(other)] == 0) {
        is_ready_[static_cast<std::size_t>(node)] = 1;
      } else {
        waiting_.push_back(graph_.step(node).kind == StepKind::send ? node : other);
      }
    }
    // A rank sends in the sequence of its steps.
    std::sort(waiting_.begin() + before, waiting_.end());
  }

  void run_round() {
    const auto p = static_cast<std::size_t>(traffic_.p);
    std::vector<char> sends(p, 0);
    std::vector<char> receives(p, 0);
    std::deque<Node> later;
    std::vector<Node> now;
    Traffic::Round round;
    for (const Node send : waiting_) {
      const Rank from = graph_.rank_of(send);
      const Rank to = graph_.step(send).peer;
      char& busy_from = sends[static_cast<std::size_t>(from)];
      char& busy_to = receives[static_cast<std::size_t>(to)];
      if (busy_from != 0 || busy_to != 0) {
        later.push_back(send);
        continue;
      }
      busy_from = busy_to = 1;
      now.push_back(send);
      round.messages.push_back({from, to, graph_.step(send).bytes});
    }
    waiting_ = std::move(later);
    for (const Node send : now) {
      flow_.complete(send);
      flow_.complete(graph_.partner(send));
    }
    add(std::move(round));
  }

  /// Merges consecutive equal rounds.
  void add(Traffic::Round round) {
    std::sort(round.messages.begin(), round.messages.end(),
              [](const auto& a, const auto& b) { return a.from < b.from; });
    if (!traffic_.rounds.empty() && traffic_.rounds.back().messages == round.messages) {
      ++traffic_.rounds.back().times;
    } else {
      traffic_.rounds.push_back(std::move(round));
    }
  }

  StepGraph graph_;
  Flow flow_;
  std::vector<char> is_ready_;  ///< by node: ready while its partner is not
  std::deque<Node> waiting_;    ///< sends that are ready, as are their receives
  Traffic traffic_;
};

}  // namespace

Traffic traffic_of(const Specification& specification, int p, Bytes block) {
  if (p > max_exact_ranks) return shape_traffic_of(specification, p, block);
  Specification natural = specification;
  natural.order = OrderName::natural;
  const Call call{specification.algorithm->collective, 0,
                  std::vector<Bytes>(static_cast<std::size_t>(p), block)};
  const std::vector<Schedule> schedules = Problems(natural, call).schedules();
  return Rounds(schedules).done();
}

Traffic shape_traffic_of(const Specification& specification, int p, Bytes block) {
  const Algorithm& algorithm = *specification.algorithm;
  const bool vector = block_kind(algorithm.collective) == BlockKind::parts;
  const bool tree = algorithm.name == "binomial" || algorithm.name == "knomial";
  if (tree && has_root(algorithm.collective)) {
    return tree_traffic(algorithm.collective, p, specification.parameters.k, block);
  }
  if (algorithm.name == "recursive_doubling" && !vector) return doubling_traffic(p, block);
  if (algorithm.name == "chain" || algorithm.name == "scatter_allgather") {
    return ring_traffic(p, (block + p - 1) / p);
  }
  if (algorithm.name == "ring") {
    Traffic traffic = ring_traffic(p, vector ? (block + p - 1) / p : block);
    // An allreduce goes around the ring twice.
    if (algorithm.collective == Collective::allreduce && p > 1) traffic.rounds[0].times *= 2;
    return traffic;
  }
  return star_traffic(p, block, flows_to_root(algorithm.collective));
}

}  // namespace tutti
