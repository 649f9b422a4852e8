/// Follows the critical path through programs.
#include "closed_forms/hierarchical_times.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/hierarchical_problems.hpp"
#include "lowering/node_graph.hpp"

namespace tutti {

namespace {

void take_later(HierarchicalSeconds& now, const HierarchicalSeconds& other) {
  if (now.total() < other.total()) now = other;
}

/// What a rank does with bytes, in the sequence of HierarchicalSeconds.
enum Work : std::uint8_t { copy_in, combine, copy_out };

bool moves(const Operation& operation) {
  return operation.kind == OperationKind::copy || operation.kind == OperationKind::reduce;
}

Work work_of(const Operation& operation) {
  if (operation.kind == OperationKind::reduce) return combine;
  return operation.to.area == Area::node ? copy_in : copy_out;
}

/// The mean block that a rank brings to an inner collective, or gets from its root.
double block_of(const InnerCall& call) {
  const auto& counts = call.send.counts.empty() ? call.receive.counts : call.send.counts;
  if (counts.empty()) return 0;
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), Bytes{0})) /
         static_cast<double>(counts.size());
}

/// The way of ranks through their programs.
class Walk {
 public:
  /// `stands_for`: by rank, how many ranks of its node do the same, with itself. `nodes`: how many
  /// take part in inner collectives.
  Walk(std::vector<PlacedProgram> ranks, const std::vector<int>& stands_for, int nodes,
       const Machine& machine)
      : machine_(machine),
        nodes_(nodes),
        graph_(std::move(ranks)),
        ends_(index(graph_.nodes())),
        now_(stands_for.size()),
        bytes_(stands_for.size()),
        last_(graph_.meetings().size()),
        arrived_(graph_.meetings().size(), 0) {
    for (Rank rank = 0; rank < graph_.p(); ++rank) {
      const PlacedProgram& place = graph_.place(rank);
      std::array<double, 3>& own = bytes_[index(rank)];
      for (const Operation& one : place.program->operations) {
        if (moves(one)) own[work_of(one)] += static_cast<double>(one.to.bytes);
      }
      std::array<double, 3>& all = node_bytes_[place.node];
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += stands_for[index(rank)] * own[i];
    }
  }

  HierarchicalSeconds seconds() {
    [[maybe_unused]] int completed = 0;
    for (const Node node : graph_.sequence()) {
      ++completed;
      const Operation& operation = graph_.operation(node);
      if (operation.kind == OperationKind::await) see(node);
      if (operation.kind == OperationKind::call) call(node);
      if (moves(operation)) move(graph_.rank_of(node), operation);
      ends_[index(node)] = now(node);
    }
    assert(completed == graph_.nodes());
    HierarchicalSeconds last;
    for (const HierarchicalSeconds& rank : now_) take_later(last, rank);
    return last;
  }

 private:
  using Node = NodeGraph::Node;

  [[nodiscard]] HierarchicalSeconds& now(Node node) { return now_[index(graph_.rank_of(node))]; }

  /// Sequence number 0 belongs to the previous call, which all ranks have left.
  void see(Node node) {
    const Operation& await = graph_.operation(node);
    if (await.sequence == 0) return;
    const int local = graph_.place(graph_.rank_of(node)).local;
    graph_.for_each_signal(node, [&](Rank other, int signal) {
      take_later(now(node), ends_[index(graph_.node(other, signal))]);
    });
    const bool own = await.first <= local && local < await.last;
    now(node).signals += (await.last - await.first - (own ? 1 : 0)) * machine_.signal;
  }

  void move(Rank rank, const Operation& operation) {
    const Work work = work_of(operation);
    const auto bytes = static_cast<double>(operation.to.bytes);
    if (bytes == 0) return;
    const double alone = work == combine ? machine_.combine_per_byte : machine_.copy_per_byte;
    const double at_once =
        node_bytes_.at(graph_.place(rank).node)[work] / bytes_[index(rank)][work];
    const double together = (work == combine ? 3 : 1) * at_once * machine_.shared_per_byte;
    HierarchicalSeconds& now = now_[index(rank)];
    (work == copy_out ? now.copies_out : now.copies_in) += bytes * std::max(alone, together);
  }

  void call(Node node) {
    const std::size_t meeting = graph_.meeting_of(node);
    const NodeGraph::Meeting& members = graph_.meetings()[meeting];
    HierarchicalSeconds& last = last_[meeting];
    take_later(last, now(node));
    if (++arrived_[meeting] < members.size()) return;
    const InnerCall& inner = graph_.call(node);
    const int lanes = graph_.place(graph_.rank_of(node)).program->lanes;
    last.between += fastest_between(inner.collective, nodes_, lanes, block_of(inner), machine_);
    for (const Node member : members) now(member) = last;
  }

  const Machine& machine_;
  int nodes_;
  NodeGraph graph_;
  std::vector<HierarchicalSeconds> ends_;            ///< by operation
  std::vector<HierarchicalSeconds> now_;             ///< by rank
  std::vector<std::array<double, 3>> bytes_;         ///< by rank: of its program, by Work
  std::map<int, std::array<double, 3>> node_bytes_;  ///< by node: of all its ranks
  std::vector<HierarchicalSeconds> last_;            ///< by meeting: when the last member calls
  std::vector<std::size_t> arrived_;                 ///< by meeting: members
};

/// Of few programs of the root's node and of another one; inner collectives join `nodes` nodes.
HierarchicalSeconds of_few_ranks(Collective collective, const NodeShape& shape, Bytes block,
                                 int leaders, int nodes, const Machine& machine) {
  const Nodes all = Nodes::consecutive(std::vector<int>(index(shape.nodes), shape.ranks));
  const Call call{collective, 0, std::vector<Bytes>(index(shape.p()), block)};
  const int lanes = std::clamp(leaders, 1, shape.ranks);
  std::map<Rank, Program> programs;
  std::vector<PlacedProgram> ranks;
  std::vector<int> stands_for;
  for (int node = 0; node < std::min(shape.nodes, 2); ++node) {
    const HierarchicalProblem seen = hierarchical_problem(call, all, node, {.leaders = leaders});
    int others = shape.ranks;
    for (const int local : {0, lane_leader(lanes - 1, lanes, shape.ranks), shape.ranks - 1}) {
      const Rank rank = all.rank_at(node, local);
      if (programs.contains(rank)) continue;
      const Program& program = programs[rank] = *hierarchical_program(seen, all, rank);
      ranks.push_back({&program, node, local});
      stands_for.push_back(1);
      --others;
    }
    stands_for.back() += others;
  }
  return Walk(std::move(ranks), stands_for, nodes, machine).seconds();
}

}  // namespace

HierarchicalSeconds program_seconds(std::span<const Program> programs, const Nodes& nodes,
                                    const Machine& machine) {
  return Walk(placed(programs, nodes), std::vector<int>(programs.size(), 1), nodes.count(), machine)
      .seconds();
}

HierarchicalSeconds hierarchical_seconds(Collective collective, const NodeShape& shape, Bytes block,
                                         int leaders, const Machine& machine) {
  const auto on = [&](int nodes) {
    return of_few_ranks(collective, {nodes, shape.ranks}, block, leaders, shape.nodes, machine);
  };
  if (shape.nodes <= 3) return on(shape.nodes);
  const HierarchicalSeconds two = on(2);
  HierarchicalSeconds all = on(3);
  all.copies_in += (shape.nodes - 3) * (all.copies_in - two.copies_in);
  all.copies_out += (shape.nodes - 3) * (all.copies_out - two.copies_out);
  return all;
}

int best_leaders(Collective collective, const NodeShape& shape, Bytes block,
                 const Machine& machine) {
  int best = 1;
  double least = hierarchical_seconds(collective, shape, block, 1, machine).total();
  for (int leaders = 2; leaders <= shape.ranks; leaders *= 2) {
    const double seconds = hierarchical_seconds(collective, shape, block, leaders, machine).total();
    if (seconds < least) {
      least = seconds;
      best = leaders;
    }
  }
  return best;
}

}  // namespace tutti
