/// Node-aware alltoall: each rank exchanges with a part of the other nodes for its whole node.
#include <algorithm>
#include <functional>

#include "schedule/builder.hpp"

namespace tutti {

namespace {

/// Nodes of k consecutive positions; the last may have fewer. Between two nodes there are as many
/// lanes as let each of k members carry one or more; a lane carries the blocks for every m-th
/// member of the other node.
class NodeLanes {
 public:
  NodeLanes(int p, int k) : p_(p), k_(std::min(k, p)), count_((p + k_ - 1) / k_) {
    if (count_ > 1) lanes_ = (k_ + count_ - 2) / (count_ - 1);
  }

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int lanes() const { return lanes_; }
  [[nodiscard]] int node_of(Position v) const { return v / k_; }
  [[nodiscard]] Position first(int node) const { return node * k_; }
  [[nodiscard]] int size(int node) const { return std::min(k_, p_ - first(node)); }
  /// The lane of the blocks that come from other nodes for v.
  [[nodiscard]] int lane_to(Position v) const { return v % k_ % lanes_; }
  /// The member of `node` that sends and receives on a lane to another node.
  [[nodiscard]] Position carrier(int node, int other, int lane) const {
    const long number = long{other < node ? other : other - 1} * lanes_ + lane;
    return first(node) + static_cast<int>(number % size(node));
  }

 private:
  int p_;
  int k_;
  int count_;
  int lanes_ = 1;
};

/// The blocks of one phase between this rank and each member of its node.
using ByMember = std::vector<std::vector<BlockIndex>>;

void exchange_in_node(ScheduleBuilder& schedule, const Problem& problem, const NodeLanes& nodes,
                      ByMember out, ByMember in) {
  const Position me = problem.position();
  const int node = nodes.node_of(me);
  const int size = nodes.size(node);
  const int mine = me - nodes.first(node);
  for (int distance = 1; distance < size; ++distance) {
    const int to = (mine + distance) % size;
    const int from = (mine - distance + size) % size;
    schedule.recv(problem.rank_at(nodes.first(node) + from),
                  Blocks::of(std::move(in[index(from)])));
    schedule.send(problem.rank_at(nodes.first(node) + to), Blocks::of(std::move(out[index(to)])));
  }
}

}  // namespace

/// Positions form nodes of k. Inside a node, each rank gives its blocks for other nodes to the
/// members that carry them, and the others their own; then carriers exchange all blocks between two
/// nodes in one message for each lane; then they deliver inside their node (multi-leader alltoalls
/// with locality in MPI Advance; the idea is that of the allgather of Bienz et al. 2022, arXiv
/// 2206.03564):
///
///     p = 6, k = 2
///     in nodes: 0<>1 2<>3 4<>5
///     between:  0<>2 1<>4 3<>5
///     in nodes: 0<>1 2<>3 4<>5
///
/// With n = p / k nodes a rank sends about n / k messages of k^2 blocks to other nodes, where
/// pairwise sends p - k of one; 2 (k - 1) messages of about n blocks stay inside. With k ranks on
/// each node: max(1, n / k) alpha + p m beta between nodes. Any p and k; the last node may be
/// smaller.
Schedule alltoall_node_aware(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const NodeLanes nodes(problem.p, problem.parameters.k);
  const Position me = problem.position();
  const int node = nodes.node_of(me);
  const Position first = nodes.first(node);
  const int size = nodes.size(node);
  const auto pair = [&](Position from, Position to) { return problem.pair(from, to).begin; };
  const auto member = [&](Position v) { return index(v - first); };
  const auto for_each_outside = [&](const std::function<void(Position, int)>& visit) {
    for (Position v = 0; v < problem.p; ++v) {
      if (nodes.node_of(v) != node) visit(v, nodes.node_of(v));
    }
  };
  const ByMember none(index(size));

  ByMember out = none;
  ByMember in = none;
  for (Position v = first; v < first + size; ++v) {
    out[member(v)].push_back(pair(me, v));
    in[member(v)].push_back(pair(v, me));
  }
  for_each_outside([&](Position to, int other) {
    const Position carrier = nodes.carrier(node, other, nodes.lane_to(to));
    out[member(carrier)].push_back(pair(me, to));
    if (carrier != me) return;
    for (Position v = first; v < first + size; ++v) in[member(v)].push_back(pair(v, to));
  });
  exchange_in_node(schedule, problem, nodes, std::move(out), std::move(in));

  for (int other = 0; other < nodes.count(); ++other) {
    for (int lane = 0; lane < nodes.lanes() && other != node; ++lane) {
      if (nodes.carrier(node, other, lane) != me) continue;
      const Rank peer = problem.rank_at(nodes.carrier(other, node, lane));
      const auto between = [&](int source, int target) {
        std::vector<BlockIndex> numbers;
        for (int s = 0; s < nodes.size(source); ++s) {
          for (int t = lane; t < nodes.size(target); t += nodes.lanes()) {
            numbers.push_back(pair(nodes.first(source) + s, nodes.first(target) + t));
          }
        }
        return Blocks::of(std::move(numbers));
      };
      schedule.recv(peer, between(other, node));
      schedule.send(peer, between(node, other));
    }
  }

  out = none;
  in = none;
  for_each_outside([&](Position from, int other) {
    in[member(nodes.carrier(node, other, nodes.lane_to(me)))].push_back(pair(from, me));
    for (Position v = first; v < first + size; ++v) {
      if (nodes.carrier(node, other, nodes.lane_to(v)) == me) {
        out[member(v)].push_back(pair(from, v));
      }
    }
  });
  exchange_in_node(schedule, problem, nodes, std::move(out), std::move(in));
  return schedule.done();
}

}  // namespace tutti
