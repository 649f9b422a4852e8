/// Allgather, reductions and parts of them along any butterfly.
///
/// A butterfly over 2^s groups has s steps. In each step a group exchanges with one partner, and
/// the groups whose data it has before the step form a cyclic range. Its type has
///
///     Butterfly(int groups)
///     int partner(int group, int step)
///     int first_held(int group, int step)    the first of these 2^step groups
#include "schedule/builder.hpp"
#include "shapes/bine.hpp"
#include "shapes/folded.hpp"

namespace tutti {

namespace {

/// The hypercube: in step j the groups g and g xor 2^j exchange.
struct Hypercube {
  explicit Hypercube(int) {}

  [[nodiscard]] int partner(int group, int step) const { return group ^ (1 << step); }
  [[nodiscard]] int first_held(int group, int step) const { return group & ~((1 << step) - 1); }
};

/// Runs `steps()` at the positions that lead groups of folded positions. The second position of a
/// pair sends its blocks `in` to the leader before, and receives `out` after. A reduction combines
/// what it receives, as right operand.
template <typename Steps>
Schedule among_leaders(ScheduleBuilder& schedule, const Problem& problem, const Blocks& in,
                       const Blocks& out, Steps steps) {
  const Folded folded(problem.p);
  const Position me = problem.position();
  if (folded.other(me) < 0) {
    steps();
    return schedule.done();
  }
  const Rank other = problem.rank_at(folded.other(me));
  if (!folded.leads(me)) {
    schedule.send(other, in);
    schedule.recv(other, out);
    return schedule.done();
  }
  if (reduces(problem.collective)) {
    schedule.reduce(other, in, Operand::right);
  } else {
    schedule.recv(other, in);
  }
  steps();
  schedule.send(other, out);
  return schedule.done();
}

/// The block of the second position of this rank's pair.
BlockRange second_block(const Problem& problem) {
  const Position second = problem.position() | 1;
  return {second, second + 1};
}

/// The steps of a group's leader. Blocks are those of positions, or parts of a vector, one for each
/// group.
template <typename Butterfly>
class Exchanges {
 public:
  Exchanges(ScheduleBuilder& schedule, const Problem& problem)
      : schedule_(schedule),
        problem_(problem),
        in_parts_(block_kind(problem.collective) == BlockKind::parts),
        folded_(problem.p),
        butterfly_(folded_.groups()),
        group_(folded_.group_of(problem.position())) {}

  /// In each step two groups exchange all blocks that they have.
  void allgather() {
    for (int step = 0; step < folded_.steps(); ++step) {
      const int partner = butterfly_.partner(group_, step);
      schedule_.send(leader(partner), held(group_, step));
      schedule_.recv(leader(partner), held(partner, step));
    }
  }

  /// The allgather backwards: in each step two groups exchange their contributions to the blocks
  /// that the other one has before this step of the allgather.
  void reduce_scatter() {
    for (int step = folded_.steps() - 1; step >= 0; --step) {
      const int partner = butterfly_.partner(group_, step);
      const bool from_below =
          butterfly_.first_held(partner, step) < butterfly_.first_held(group_, step);
      schedule_.send(leader(partner), held(partner, step));
      schedule_.reduce(leader(partner), held(group_, step),
                       from_below && !in_parts_ ? Operand::left : Operand::right);
    }
  }

  /// Up the tree of the steps to group 0, with the blocks that a group has.
  void gather() {
    for (int step = 0; step < folded_.steps(); ++step) {
      const int partner = butterfly_.partner(group_, step);
      if (partner < group_) {
        schedule_.send(leader(partner), held(group_, step));
        return;
      }
      schedule_.recv(leader(partner), held(partner, step));
    }
  }

 private:
  [[nodiscard]] Rank leader(int group) const { return problem_.rank_at(folded_.leader(group)); }
  /// The blocks that a group has before a step of the allgather.
  [[nodiscard]] Blocks held(int group, int step) const {
    const int first = butterfly_.first_held(group, step);
    if (in_parts_) return schedule_.cyclic(first, 1 << step);
    const BlockRange positions = folded_.cyclic(first, 1 << step);
    return schedule_.cyclic(positions.begin, positions.count());
  }

  ScheduleBuilder& schedule_;
  const Problem& problem_;
  bool in_parts_;
  Folded folded_;
  Butterfly butterfly_;
  int group_;
};

/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
template <typename Butterfly>
Schedule allgather_along(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const BlockRange second = second_block(problem);
  return among_leaders(schedule, problem, second, {{0, problem.p}, {second}},
                       [&] { Exchanges<Butterfly>(schedule, problem).allgather(); });
}

/// log2 p rounds for a power of two, (p - 1) m beta. For other p the pairs' second positions send
/// all contributions first and receive their block at the end. Combines groups that are not
/// neighbours, so the operation must commute.
template <typename Butterfly>
Schedule reduce_scatter_along(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  return among_leaders(schedule, problem, BlockRange{0, problem.p}, second_block(problem),
                       [&] { Exchanges<Butterfly>(schedule, problem).reduce_scatter(); });
}

/// A reduce_scatter of the vector's parts, one part per group, then an allgather of the parts.
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the
/// pairs' second positions send their vector before and receive the result after: 2 (alpha + m
/// beta) more. The operation must commute.
template <typename Butterfly>
Schedule allreduce_along(const Problem& problem) {
  const Problem cut = problem.cut(Folded(problem.p).groups());
  ScheduleBuilder schedule(cut);
  const BlockRange vector = {0, cut.parts};
  return among_leaders(schedule, problem, vector, vector, [&] {
    Exchanges<Butterfly> exchanges(schedule, problem);
    exchanges.reduce_scatter();
    exchanges.allgather();
  });
}

}  // namespace

/// In round d group g and group g xor 2^d exchange all blocks that they have, which form a range:
///
///     p = 6    1>0 {1} 3>2 {3}    0<>2 4<>5    0<>4 2<>5    0>1 {0 2 3 4 5} 2>3 {0 1 2 4 5}
///
/// Time: see allgather_along.
Schedule allgather_recursive_doubling(const Problem& problem) {
  return allgather_along<Hypercube>(problem);
}

/// In step j groups at distance 1, -1, 3, -5, 11, .. exchange all blocks that they have, which form
/// a cyclic range (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 8    0<>1 2<>3 4<>5 6<>7    0<>7 2<>1 4<>3 6<>5    0<>3 2<>5 4<>7 6<>1
///
/// Time: see allgather_along.
Schedule allgather_bine(const Problem& problem) { return allgather_along<BineButterfly>(problem); }

/// The allgather by recursive doubling backwards: in each round a group and the group at half the
/// distance of the round before exchange their contributions to the other's half (Thakur,
/// Rabenseifner & Gropp 2005, section 4.4).
///
///     p = 6    1>0 {0 .. 5} 3>2 {0 .. 5}    0<>4 2<>5    0<>2 4<>5    0>1 {1} 2>3 {3}
///
/// Time: see reduce_scatter_along.
Schedule reduce_scatter_recursive_halving(const Problem& problem) {
  return reduce_scatter_along<Hypercube>(problem);
}

/// The Bine allgather backwards (De Sensi et al. 2025, section 4). Combines in a cyclic sequence:
///
///     p = 8    0<>3 {2 3 4 5}<>{6 7 0 1} ..    0<>7 {6 7}<>{0 1} ..    0<>1 {1}<>{0} ..
///
/// Time: see reduce_scatter_along.
Schedule reduce_scatter_bine(const Problem& problem) {
  return reduce_scatter_along<BineButterfly>(problem);
}

/// Recursive halving of the vector's parts, then doubling (Rabenseifner 2004):
///
///     p = 6    1>0 3>2    0<>4 2<>5 halves    0<>2 4<>5 quarters    and back    0>1 2>3
///
/// Time: see allreduce_along.
Schedule allreduce_halving_doubling(const Problem& problem) {
  return allreduce_along<Hypercube>(problem);
}

/// The same along a Bine butterfly (De Sensi et al. 2025, section 4):
///
///     p = 8    0<>3 halves    0<>7 quarters    0<>1 eighths    and back
///
/// Time: see allreduce_along.
Schedule allreduce_bine(const Problem& problem) { return allreduce_along<BineButterfly>(problem); }

/// In round d group g and group g xor 2^d exchange their vectors and combine them. The groups are
/// neighbours, so in natural order contributions stay in the sequence of ranks. Valid for any
/// associative operation:
///
///     p = 6    1>0 3>2    0<>2 4<>5    0<>4 2<>5    0>1 2>3
///
/// log2 p (alpha + m beta) for a power of two. Other p take 2 rounds more, in which the pairs'
/// second ranks send their vector and receive the result.
Schedule allreduce_recursive_doubling(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  return among_leaders(schedule, problem, vector, vector, [&] {
    const int group = folded.group_of(problem.rank);
    for (int distance = 1; distance < folded.groups(); distance *= 2) {
      const Rank peer = folded.leader(group ^ distance);
      schedule.send(peer, vector);
      schedule.reduce(peer, vector, (group & distance) != 0 ? Operand::left : Operand::right);
    }
  });
}

/// A reduce_scatter by recursive halving of the vector's parts, one part per group, then a binomial
/// gather of the parts to the root (Rabenseifner 2004):
///
///     p = 6, root 0    1>0 3>2    0<>4 2<>5 halves    0<>2 4<>5 quarters    2>0 5>4    4>0
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before: alpha + m beta more. The operation must commute.
Schedule reduce_scatter_gather(const Problem& problem) {
  const Problem cut = problem.cut(Folded(problem.p).groups());
  ScheduleBuilder schedule(cut);
  return among_leaders(schedule, problem, BlockRange{0, cut.parts}, {}, [&] {
    Exchanges<Hypercube> exchanges(schedule, problem);
    exchanges.reduce_scatter();
    exchanges.gather();
  });
}

}  // namespace tutti
