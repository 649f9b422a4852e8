/// Implements closed forms for nodes that share an adapter.
#include <algorithm>
#include <bit>

#include "closed_forms/hierarchical_times.hpp"

namespace tutti {

namespace {

/// Messages that MPICH lets a rank of a scattered exchange have under way
/// (MPIR_CVAR_ALLTOALL_THROTTLE).
constexpr int throttle = 32;

int rounds_of(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))); }

/// The rounds of one algorithm: between ranks on nodes, or between nodes on several lanes at once.
class Rounds {
 public:
  Rounds(const NodeShape& shape, int lanes, const Machine& machine)
      : shape_(shape), lanes_(lanes), machine_(machine) {}

  /// One round in which `senders` ranks of each node send `bytes` each to other nodes.
  [[nodiscard]] double between(int senders, double bytes) const {
    const double n = static_cast<double>(senders) * lanes_;
    return machine_.latency + (n - 1) * machine_.node_gap +
           std::max(bytes * machine_.sender_per_byte, n * bytes * machine_.per_byte);
  }
  /// One round in which `senders` ranks of each node send inside it.
  [[nodiscard]] double inside(int senders, double bytes) const {
    return machine_.local_latency + std::max(bytes * machine_.local_per_byte,
                                             2 * senders * bytes * machine_.shared_per_byte);
  }
  [[nodiscard]] double combine(double bytes) const { return bytes * machine_.combine_per_byte; }

  /// p - 1 rounds to the next rank; one rank of each node has its neighbour on the next node.
  [[nodiscard]] double ring(double bytes, bool reduces) const {
    if (p() == 1) return 0;
    double round = shape_.nodes > 1 ? between(1, bytes) : 0;
    if (shape_.ranks > 1) round = std::max(round, inside(shape_.ranks, bytes));
    return (p() - 1) * (round + (reduces ? combine(bytes) : 0));
  }

  /// One round in which all ranks exchange `bytes` at a distance: inside nodes if these hold a
  /// multiple of twice as many ranks. Else some pairs are of several nodes.
  [[nodiscard]] double exchange(int distance, double bytes, bool reduces) const {
    const bool is_wide = distance >= shape_.ranks;
    const double local = is_wide ? 0 : inside(shape_.ranks, bytes);
    const bool crosses = shape_.nodes > 1 && shape_.ranks % (2 * distance) != 0;
    const double remote = crosses ? between(std::min(distance, shape_.ranks), bytes) : 0;
    return std::max(local, remote) + (reduces ? combine(bytes) : 0);
  }
  /// Exchanges of blocks of `bytes` at distances 1, 2, 4, ..: as many as the distance, and those
  /// that are left at last.
  [[nodiscard]] double doubling(double bytes, bool reduces) const {
    double seconds = 0;
    for (int distance = 1; distance < p(); distance *= 2) {
      seconds += exchange(distance, bytes * std::min(distance, p() - distance), reduces);
    }
    return seconds;
  }
  /// Exchanges of whole vectors among a power of two of the ranks. Neighbours serve the others, in
  /// a round before and one after.
  [[nodiscard]] double exchanging(double bytes, bool reduces) const {
    double seconds = 0;
    for (int distance = 1; 2 * distance <= p(); distance *= 2) {
      seconds += exchange(distance, bytes, reduces);
    }
    if (std::has_single_bit(static_cast<unsigned>(p()))) return seconds;
    return seconds + exchange(1, bytes, reduces) + exchange(1, bytes, false);
  }

  /// A tree with a whole vector per message, whose parents are on other nodes only in the last
  /// rounds.
  [[nodiscard]] double tree(double bytes, bool reduces) const {
    const double round = reduces ? combine(bytes) : 0;
    return rounds_of(shape_.nodes) * (between(1, bytes) + round) +
           rounds_of(shape_.ranks) * (inside(std::max(1, shape_.ranks / 2), bytes) + round);
  }

  /// Blocks of `bytes` each up or down a binomial tree: the root's messages double.
  [[nodiscard]] double collecting(double bytes) const {
    double seconds = 0;
    for (int distance = 1; distance < p(); distance *= 2) {
      const double passed = bytes * std::min(distance, p() - distance);
      seconds += distance < shape_.ranks ? inside(1, passed) : between(1, passed);
    }
    return seconds;
  }

  /// All blocks directly to or from the root, one gap or overhead of it apart.
  [[nodiscard]] double star(double bytes) const {
    const auto served = [&](int messages, double latency, double gap, double per_byte) {
      if (messages == 0) return 0.0;
      return latency + (messages - 1) * std::max(gap, bytes * per_byte) + bytes * per_byte;
    };
    return served(p() - shape_.ranks, machine_.latency,
                  std::max(machine_.gap, machine_.node_gap * lanes_),
                  std::max(machine_.sender_per_byte, machine_.per_byte * lanes_)) +
           served(shape_.ranks - 1, machine_.local_latency, machine_.overhead,
                  machine_.local_per_byte);
  }

  /// Every rank with every other one, round by round.
  [[nodiscard]] double pairs(double bytes, bool reduces) const {
    const double round = reduces ? combine(bytes) : 0;
    return (p() - shape_.ranks) * (between(shape_.ranks, bytes) + round) +
           (shape_.ranks - 1) * (inside(shape_.ranks, bytes) + round);
  }

  /// Every rank with every other one, in batches whose messages are under way at once: only a batch
  /// waits for a latency, and each message for the gap of its rank; inside a node for its overhead.
  [[nodiscard]] double scattered(double bytes) const {
    const auto batched = [](int messages, double latency, double gap, double round) {
      const int batches = (messages + throttle - 1) / throttle;
      return batches * latency + messages * std::max(gap, round - latency);
    };
    return batched(p() - shape_.ranks, machine_.latency, machine_.gap,
                   between(shape_.ranks, bytes)) +
           batched(shape_.ranks - 1, machine_.local_latency, machine_.overhead,
                   inside(shape_.ranks, bytes));
  }

  /// Bruck's alltoall: half of all blocks in each round, to the rank at that distance.
  [[nodiscard]] double bruck(double bytes) const {
    double seconds = 0;
    for (int distance = 1; distance < p(); distance *= 2) {
      const double half = bytes * (p() / 2);
      const double local = shape_.ranks > 1 ? inside(shape_.ranks, half) : 0;
      const double remote = shape_.nodes > 1 ? between(std::min(distance, shape_.ranks), half) : 0;
      seconds += std::max(local, remote);
    }
    return seconds;
  }

  [[nodiscard]] int p() const { return shape_.p(); }

 private:
  NodeShape shape_;
  int lanes_;
  const Machine& machine_;
};

double ring_seconds(Collective collective, const Rounds& rounds, double block) {
  const double part = block / rounds.p();
  switch (collective) {
    case Collective::bcast:
      return rounds.collecting(part) + rounds.ring(part, false);
    case Collective::allreduce:
      return rounds.ring(part, true) + rounds.ring(part, false);
    case Collective::reduce:
      return rounds.ring(part, true) + rounds.collecting(part);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return rounds.ring(block, true);
    default:
      return rounds.ring(block, false);
  }
}

double recursive_seconds(Collective collective, const Rounds& rounds, double block) {
  if (is_gather_or_scatter(collective)) return rounds.collecting(block);
  switch (collective) {
    case Collective::bcast:
      return rounds.tree(block, false);
    case Collective::reduce:
      return rounds.tree(block, true);
    case Collective::allreduce:
      return rounds.exchanging(block, true);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return rounds.doubling(block, true);
    case Collective::alltoall:
      return rounds.bruck(block);
    case Collective::barrier:
      // Dissemination: some ranks of each node send to another node in all rounds.
      return rounds.bruck(0);
    default:
      return rounds.doubling(block, false);
  }
}

}  // namespace

std::vector<FlatTime> flat_times(Collective collective, const NodeShape& shape, double block,
                                 const Machine& machine, int lanes) {
  const Rounds rounds(shape, lanes, machine);
  const bool pairs = block_kind(collective) == BlockKind::pairs;
  const bool vector = block_kind(collective) == BlockKind::parts;
  const bool barrier = collective == Collective::barrier;
  std::vector<FlatTime> times;
  if (!pairs && !barrier && (vector || !has_root(collective))) {
    times.push_back({"ring", ring_seconds(collective, rounds, block)});
  }
  if (collective != Collective::alltoallv) {
    times.push_back({"recursive", recursive_seconds(collective, rounds, block)});
  }
  if (!vector && !barrier) {
    times.push_back({"pairwise", has_root(collective) ? rounds.star(block)
                                                      : rounds.pairs(block, reduces(collective))});
  }
  if (collective == Collective::alltoallv) {
    times.push_back({"scattered", rounds.scattered(block)});
  }
  return times;
}

double fastest_between(Collective collective, int nodes, int lanes, double block,
                       const Machine& machine) {
  if (nodes == 1) return 0;
  return std::ranges::min(flat_times(collective, {nodes, 1}, block, machine, lanes), {},
                          &FlatTime::seconds)
      .seconds;
}

}  // namespace tutti
