/// Allgather, reductions and parts of them along any butterfly.
///
/// A butterfly over 2^s groups has s steps. In each step a group exchanges with one partner, and
/// the groups whose data it has before the step form a cyclic range. Its type has
///
///     Butterfly(int groups)
///     int steps()
///     int partner(int group, int step)
///     int first_held(int group, int step)    the first of these 2^step groups
#pragma once

#include <bit>

#include "core/problem.hpp"
#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// The hypercube: in step j the groups g and g xor 2^j exchange.
class Hypercube {
 public:
  explicit Hypercube(int groups) : groups_(groups) {}

  [[nodiscard]] int steps() const { return std::bit_width(static_cast<unsigned>(groups_)) - 1; }
  [[nodiscard]] int partner(int group, int step) const { return group ^ (1 << step); }
  [[nodiscard]] int first_held(int group, int step) const { return group & ~((1 << step) - 1); }

 private:
  int groups_;
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
[[nodiscard]] inline BlockRange second_block(const Problem& problem) {
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
    for (int step = 0; step < butterfly_.steps(); ++step) {
      const int partner = butterfly_.partner(group_, step);
      schedule_.send(leader(partner), held(group_, step));
      schedule_.recv(leader(partner), held(partner, step));
    }
  }

  /// The allgather backwards: in each step two groups exchange their contributions to the blocks
  /// that the other one has before this step of the allgather.
  void reduce_scatter() {
    for (int step = butterfly_.steps() - 1; step >= 0; --step) {
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
    for (int step = 0; step < butterfly_.steps(); ++step) {
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
/// all contributions first and receive their block at the end.
template <typename Butterfly>
Schedule reduce_scatter_along(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  return among_leaders(schedule, problem, BlockRange{0, problem.p}, second_block(problem),
                       [&] { Exchanges<Butterfly>(schedule, problem).reduce_scatter(); });
}

/// A reduce_scatter of the vector's parts, one part per group, then an allgather of the parts.
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more.
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

}  // namespace tutti
