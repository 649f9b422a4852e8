/// Follows the critical path through programs.
#include "cost/hierarchical_times.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/hierarchical_problems.hpp"
#include "core/index.hpp"

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

/// A rank on its way through its program.
struct Walker {
  const Program* program = nullptr;
  int node = 0;
  int local = 0;
  int stands_for = 1;                ///< ranks of its node that do the same, with itself
  std::array<double, 3> bytes = {};  ///< by Work, of the whole program
  std::size_t next = 0;
  bool waits = false;  ///< for the other members of an inner collective
  HierarchicalSeconds now = {};
  std::map<int, HierarchicalSeconds> signals = {};  ///< by sequence number
  std::map<int, int> called = {};                   ///< by lane: inner collectives so far
};

/// The ranks of a call, or some that stand for all.
class Walk {
 public:
  /// `nodes`: how many take part in inner collectives.
  Walk(std::vector<Walker> ranks, int nodes, const NodeMachine& machine)
      : machine_(machine), nodes_(nodes), ranks_(std::move(ranks)) {
    for (Walker& rank : ranks_) {
      at_[{rank.node, rank.local}] = &rank;
      int last = -1;
      for (const InnerCall& call : rank.program->calls) {
        if (call.lane > last) ++members_[last = call.lane];
      }
      for (const Operation& one : rank.program->operations) {
        if (moves(one)) rank.bytes[work_of(one)] += static_cast<double>(one.to.bytes);
      }
      std::array<double, 3>& all = bytes_[rank.node];
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += rank.stands_for * rank.bytes[i];
    }
  }

  HierarchicalSeconds seconds() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Walker& rank : ranks_) {
        while (!rank.waits && rank.next < rank.program->operations.size() && advances(rank)) {
          moved = true;
        }
      }
    }
    HierarchicalSeconds last;
    for (const Walker& rank : ranks_) {
      assert(rank.next == rank.program->operations.size());
      take_later(last, rank.now);
    }
    return last;
  }

 private:
  struct Meeting {
    HierarchicalSeconds last = {};
    std::vector<Walker*> waiting = {};
  };

  /// Executes the next operation of a rank; false if it must wait.
  bool advances(Walker& rank) {
    const Operation& operation = rank.program->operations[rank.next];
    if (operation.kind == OperationKind::await && !sees(rank, operation)) return false;
    ++rank.next;
    if (operation.kind == OperationKind::signal) rank.signals[operation.sequence] = rank.now;
    if (operation.kind == OperationKind::call)
      call(rank, rank.program->calls[index(operation.call)]);
    if (moves(operation)) move(rank, work_of(operation), static_cast<double>(operation.to.bytes));
    return true;
  }

  /// Sequence number 0 belongs to the previous call, which all ranks have left.
  bool sees(Walker& rank, const Operation& operation) {
    if (operation.sequence == 0) return true;
    HierarchicalSeconds seen = rank.now;
    for (int local = operation.first; local < operation.last; ++local) {
      const auto other = at_.find({rank.node, local});
      if (local == rank.local || other == at_.end()) continue;
      const auto signal = other->second->signals.lower_bound(operation.sequence);
      if (signal == other->second->signals.end()) return false;
      take_later(seen, signal->second);
    }
    const bool own = operation.first <= rank.local && rank.local < operation.last;
    seen.signals += (operation.last - operation.first - (own ? 1 : 0)) * machine_.signal;
    rank.now = seen;
    return true;
  }

  void move(Walker& rank, Work work, double bytes) const {
    if (bytes == 0) return;
    const double alone = work == combine ? machine_.combine_per_byte : machine_.copy_per_byte;
    const double at_once = bytes_.at(rank.node)[work] / rank.bytes[work];
    const double together = (work == combine ? 3 : 1) * at_once * machine_.shared_per_byte;
    double& part = work == copy_out ? rank.now.copies_out : rank.now.copies_in;
    part += bytes * std::max(alone, together);
  }

  void call(Walker& rank, const InnerCall& inner) {
    Meeting& meeting = meetings_[{inner.lane, rank.called[inner.lane]++}];
    take_later(meeting.last, rank.now);
    meeting.waiting.push_back(&rank);
    rank.waits = true;
    if (static_cast<int>(meeting.waiting.size()) < members_[inner.lane]) return;
    meeting.last.between +=
        fastest_between(inner.collective, nodes_, rank.program->lanes, block_of(inner), machine_);
    for (Walker* member : meeting.waiting) {
      member->now = meeting.last;
      member->waits = false;
    }
  }

  const NodeMachine& machine_;
  int nodes_;
  std::vector<Walker> ranks_;
  std::map<std::pair<int, int>, Walker*> at_;        ///< by node and local rank
  std::map<int, std::array<double, 3>> bytes_;       ///< by node: of all its ranks
  std::map<int, int> members_;                       ///< by lane
  std::map<std::pair<int, int>, Meeting> meetings_;  ///< by lane and number
};

/// Of few programs of the root's node and of another one; inner collectives join `nodes` nodes.
HierarchicalSeconds of_few_ranks(Collective collective, const NodeShape& shape, Bytes block,
                                 int leaders, int nodes, const NodeMachine& machine) {
  const Nodes all = Nodes::consecutive(std::vector<int>(index(shape.nodes), shape.ranks));
  const Call call{collective, 0, std::vector<Bytes>(index(shape.p()), block)};
  const int lanes = std::clamp(leaders, 1, shape.ranks);
  std::map<Rank, Program> programs;
  std::vector<Walker> ranks;
  for (int node = 0; node < std::min(shape.nodes, 2); ++node) {
    const HierarchicalProblem seen = hierarchical_problem(call, all, node, {.leaders = leaders});
    int others = shape.ranks;
    for (const int local : {0, lane_leader(lanes - 1, lanes, shape.ranks), shape.ranks - 1}) {
      const Rank rank = all.rank_at(node, local);
      if (programs.contains(rank)) continue;
      const Program& program = programs[rank] = *hierarchical_program(seen, all, rank);
      ranks.push_back({.program = &program, .node = node, .local = local});
      --others;
    }
    ranks.back().stands_for += others;
  }
  return Walk(std::move(ranks), nodes, machine).seconds();
}

}  // namespace

HierarchicalSeconds program_seconds(std::span<const Program> programs, const Nodes& nodes,
                                    const NodeMachine& machine) {
  std::vector<Walker> ranks;
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    ranks.push_back({.program = &programs[index(rank)],
                     .node = nodes.node_of(rank),
                     .local = nodes.local_of(rank)});
  }
  return Walk(std::move(ranks), nodes.count(), machine).seconds();
}

HierarchicalSeconds hierarchical_seconds(Collective collective, const NodeShape& shape, Bytes block,
                                         int leaders, const NodeMachine& machine) {
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
                 const NodeMachine& machine, int most) {
  int best = 1;
  double least = hierarchical_seconds(collective, shape, block, 1, machine).total();
  for (int leaders = 2; leaders <= std::min(most, shape.ranks); leaders *= 2) {
    const double seconds = hierarchical_seconds(collective, shape, block, leaders, machine).total();
    if (seconds < least) {
      least = seconds;
      best = leaders;
    }
  }
  return best;
}

}  // namespace tutti
