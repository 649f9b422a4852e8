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

/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
template <typename Butterfly>
Schedule allgather_along(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const auto all_but = [&](Position v) { return Blocks({0, problem.p}, {{v, v + 1}}); };
  if (!folded.leads(me)) {
    const Rank leader = problem.rank_at(other);
    schedule.send(leader, {me, me + 1});
    schedule.recv(leader, all_but(me));
    return schedule.done();
  }
  if (other >= 0) schedule.recv(problem.rank_at(other), {other, other + 1});
  const Butterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = 0; step < butterfly.steps(); ++step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    const auto held = [&](int by) {
      return folded.cyclic(butterfly.first_held(by, step), 1 << step);
    };
    schedule.send(peer, schedule.cyclic(held(group).begin, held(group).count()));
    schedule.recv(peer, schedule.cyclic(held(partner).begin, held(partner).count()));
  }
  if (other >= 0) schedule.send(problem.rank_at(other), all_but(other));
  return schedule.done();
}

/// The allgather backwards: in each step two groups exchange their contributions to the blocks that
/// the other one has before this step of the allgather. log2 p rounds for a power of two,
/// (p - 1) m beta. For other p the pairs' second positions send all contributions first and receive
/// their block at the end.
template <typename Butterfly>
Schedule reduce_scatter_along(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const BlockRange all = {0, problem.p};
  if (!folded.leads(me)) {
    const Rank leader = problem.rank_at(other);
    schedule.send(leader, all);
    schedule.recv(leader, {me, me + 1});
    return schedule.done();
  }
  if (other >= 0) schedule.reduce(problem.rank_at(other), all, Operand::right);
  const Butterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    const auto kept = [&](int by) {
      return folded.cyclic(butterfly.first_held(by, step), 1 << step);
    };
    schedule.send(peer, schedule.cyclic(kept(partner).begin, kept(partner).count()));
    schedule.reduce(peer, schedule.cyclic(kept(group).begin, kept(group).count()),
                    kept(partner).begin < kept(group).begin ? Operand::left : Operand::right);
  }
  if (other >= 0) schedule.send(problem.rank_at(other), {other, other + 1});
  return schedule.done();
}

/// A reduce_scatter of the parts of a vector that is cut into one part per group: appends its
/// steps. False where the rank has no part: its position is the second of a pair and has sent its
/// vector.
template <typename Butterfly>
bool reduce_parts_along(ScheduleBuilder& schedule, const Problem& problem, const Folded& folded) {
  const Position me = problem.position();
  const Position other = folded.other(me);
  const BlockRange all = {0, folded.groups()};
  if (!folded.leads(me)) {
    schedule.send(problem.rank_at(other), all);
    return false;
  }
  if (other >= 0) schedule.reduce(problem.rank_at(other), all, Operand::right);
  const Butterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    schedule.send(peer, schedule.cyclic(butterfly.first_held(partner, step), 1 << step));
    schedule.reduce(peer, schedule.cyclic(butterfly.first_held(group, step), 1 << step),
                    Operand::right);
  }
  return true;
}

/// A reduce_scatter of the vector's parts, one part per group, then an allgather of the parts.
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more.
template <typename Butterfly>
Schedule allreduce_along(const Problem& problem) {
  const Folded folded(problem.p);
  const Problem cut = problem.cut(folded.groups());
  ScheduleBuilder schedule(cut);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const BlockRange all = {0, folded.groups()};
  if (!reduce_parts_along<Butterfly>(schedule, problem, folded)) {
    schedule.recv(problem.rank_at(other), all);
    return schedule.done();
  }
  const Butterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = 0; step < butterfly.steps(); ++step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    schedule.send(peer, schedule.cyclic(butterfly.first_held(group, step), 1 << step));
    schedule.recv(peer, schedule.cyclic(butterfly.first_held(partner, step), 1 << step));
  }
  if (other >= 0) schedule.send(problem.rank_at(other), all);
  return schedule.done();
}

}  // namespace tutti
