/// Allgather as a broadcast of each block on its own.
#include <ranges>

#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"
#include "shapes/sequences.hpp"

namespace tutti {

/// Each block goes down the k-nomial tree that begins at its own position; the trees are one tree,
/// turned:
///
///     p = 5, k = 2    block 0: 0 -+- 1        block 3: 3 -+- 4
///                                +- 2 --- 3              +- 0 --- 1
///                                +- 4                    +- 2
///
/// p - 1 messages of one block from each rank: (p - 1)(alpha + m beta), as linear. In the
/// background the block of a late rank needs ceil(log2 p)(alpha + m beta) after its arrival, where
/// a ring needs p - 1 such hops: the bound is ceil(log2 p) alpha and alpha + m beta.
Schedule allgather_broadcasts(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Knomial tree(p, problem.parameters.k);
  const Position me = problem.position();
  // Those with the longest way still to go first, at both ends of each message.
  std::vector<Position> sequence = large_subtrees_first(p, problem.parameters.k);
  sequence.insert(sequence.begin(), 0);
  for (const Position v : sequence) {
    const Position source = (me - v + p) % p;
    const BlockRange block = {source, source + 1};
    const auto rank_at = [&](Position in_tree) { return problem.rank_at((source + in_tree) % p); };
    if (v > 0) schedule.recv(rank_at(tree.parent(v)), block);
    for (const Position child : tree.children(v) | std::views::reverse) {
      schedule.send(rank_at(child), block);
    }
  }
  return schedule.done();
}

}  // namespace tutti
