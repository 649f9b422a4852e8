/// Collectives on the circulant graph, for any number of ranks.
#include <ranges>
#include <vector>

#include "algorithms/parts.hpp"
#include "shapes/circulant_broadcast.hpp"

namespace tutti {

namespace {

/// The parts that a rank receives and sends in one round of a broadcast; empty: none.
struct CirculantRound {
  Rank from;
  BlockRange received;
  Rank to;
  BlockRange sent;
};

/// The rounds of `problem`, whose vector is in parts.
std::vector<CirculantRound> circulant_rounds(const Problem& problem) {
  const int p = problem.p;
  const Position me = problem.position();
  const CirculantBroadcast broadcast(p, problem.parts);
  const std::vector<int> received = broadcast.received(me);
  const std::vector<int> sent = broadcast.sent(me);
  const auto blocks = [](int part) { return part < 0 ? BlockRange{} : BlockRange{part, part + 1}; };
  std::vector<CirculantRound> rounds;
  for (int round = 0; round < broadcast.rounds(); ++round) {
    const int skip = broadcast.skip(round);
    rounds.push_back({problem.rank_at((me - skip + p) % p), blocks(received[index(round)]),
                      problem.rank_at((me + skip) % p), blocks(sent[index(round)])});
  }
  return rounds;
}

}  // namespace

/// n parts in n - 1 + ceil(log2 p) rounds; in each round every rank sends one part and receives
/// another. No broadcast of n parts takes fewer rounds (Träff 2022, arXiv 2205.10072; see
/// shapes/circulant_broadcast.hpp). (n - 1 + ceil(log2 p))(alpha + m / n beta); with the best n,
/// (sqrt((ceil(log2 p) - 1) alpha) + sqrt(m beta))^2.
Schedule bcast_circulant(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  for (const auto& [from, received, to, sent] : circulant_rounds(cut)) {
    schedule.send(to, sent);
    schedule.recv(from, received);
    schedule.wait_all();
  }
  return schedule.done();
}

/// The broadcast backwards, in as many rounds (Träff 2024, arXiv 2407.18004). The messages of a
/// part form a tree, because every rank but the root receives it once. So a rank has combined all
/// of its subtree's contributions to a part when it sends it. By round, source>target:part:
///
///     p = 5, root 0, 2 parts
///         2>4:0 3>0:1 4>1:1
///         1>4:0 2>0:1
///         1>0:1 4>3:0
///         3>0:0
///
/// (n - 1 + ceil(log2 p))(alpha + m / n beta) at any root. The sequence in which contributions meet
/// differs from part to part, so the operation must commute.
Schedule reduce_circulant(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  for (const auto& [from, received, to, sent] : circulant_rounds(cut) | std::views::reverse) {
    schedule.send(from, received);
    schedule.reduce(to, sent, Operand::right);
    schedule.wait_all();
  }
  return schedule.done();
}

/// Before round k position v has the blocks of the s_k positions from itself on. It sends the first
/// s_{k+1} - s_k of them to v - s_k and receives as many, those of v + s_k and on, from v + s_k
/// (Träff 2024, arXiv 2410.14234):
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
/// 2024, arXiv 2410.14234):
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

/// 2 ceil(log2 p) alpha + 2 (p - 1) / p m beta for any p (Träff 2024, arXiv 2410.14234).
Schedule allreduce_circulant(const Problem& problem) {
  return in_parts_of_ranks(problem, reduce_scatter_circulant, allgather_circulant);
}

}  // namespace tutti
