/// Collectives on the circulant graph, for any number of ranks.
#include <vector>

#include "algorithms/parts.hpp"
#include "shapes/circulant_broadcast.hpp"

namespace tutti {

/// n parts in n - 1 + ceil(log2 p) rounds; in each round every rank sends one part and receives
/// another. No broadcast of n parts takes fewer rounds (Träff 2022, arXiv 2205.10072; see
/// shapes/circulant_broadcast.hpp). (n - 1 + ceil(log2 p))(alpha + m / n beta); with the best n,
/// (sqrt((ceil(log2 p) - 1) alpha) + sqrt(m beta))^2.
Schedule bcast_circulant(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const int p = problem.p;
  const Position me = problem.position();
  const CirculantBroadcast broadcast(p, cut.parts);
  const std::vector<int> received = broadcast.received(me);
  const std::vector<int> sent = broadcast.sent(me);
  for (int round = 0; round < broadcast.rounds(); ++round) {
    const int skip = broadcast.skip(round);
    const auto at = index(round);
    if (const int part = sent[at]; part >= 0) {
      schedule.send(problem.rank_at((me + skip) % p), {part, part + 1});
    }
    if (const int part = received[at]; part >= 0) {
      schedule.recv(problem.rank_at((me - skip + p) % p), {part, part + 1});
    }
    schedule.wait_all();
  }
  return schedule.done();
}

/// Before round k position v has the blocks of the s_k positions from itself on. It sends the first
/// s_{k+1} - s_k of them to v - s_k and receives as many, those of v + s_k and on, from v + s_k
/// (Träff 2024, arXiv 2407.18004):
///
///     p = 6, skips 1 2 3 6    0 has {0}    {0 1}    {0 1 2}    all
///
/// ceil(log2 p) rounds, (p - 1) m beta. Rounds grow as evenly as p allows; the last round of Bruck
/// may be short.
Schedule allgather_circulant(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const std::vector<int> skips = circulant_skips(p);
  for (std::size_t round = 0; round + 1 < skips.size(); ++round) {
    const int skip = skips[round];
    const int count = skips[round + 1] - skip;
    const Position from = (me + skip) % p;
    schedule.send(problem.rank_at((me - skip + p) % p), schedule.cyclic(me, count));
    schedule.recv(problem.rank_at(from), schedule.cyclic(from, count));
  }
  return schedule.done();
}

/// The circulant allgather backwards: in round k = q - 1, .., 0 position v sends its s_{k+1} - s_k
/// blocks from v + s_k on to position v + s_k, and combines as many blocks from its own on (Träff
/// 2024, arXiv 2407.18004):
///
///     p = 6, skips 1 2 3 6    0 sends {3 4 5} to 3, {2} to 2, {1} to 1
///
/// ceil(log2 p) rounds, (p - 1) m beta for any p. Combines in a cyclic sequence.
Schedule reduce_scatter_circulant(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const std::vector<int> skips = circulant_skips(p);
  for (std::size_t round = skips.size() - 1; round-- > 0;) {
    const int skip = skips[round];
    const int count = skips[round + 1] - skip;
    const Position to = (me + skip) % p;
    schedule.send(problem.rank_at(to), schedule.cyclic(to, count));
    schedule.reduce(problem.rank_at((me - skip + p) % p), schedule.cyclic(me, count),
                    Operand::left);
  }
  return schedule.done();
}

/// 2 ceil(log2 p) alpha + 2 (p - 1) / p m beta for any p (Träff 2024, arXiv 2407.18004).
Schedule allreduce_circulant(const Problem& problem) {
  return in_parts_of_ranks(problem, reduce_scatter_circulant, allgather_circulant);
}

}  // namespace tutti
