/// Scan and exscan in a logarithmic number of rounds.
#include "schedule/builder.hpp"

namespace tutti {

namespace {

constexpr BlockRange whole = {0, 1};

/// An exscan is the scan of ranks 1 to p - 1 in which each has the contribution of the rank below.
/// Passes these on, for an exscan. Returns the first rank of the scan.
Rank shift(ScheduleBuilder& schedule, const Problem& problem) {
  if (problem.collective == Collective::scan) return 0;
  const Rank me = problem.rank;
  if (me + 1 < problem.p) schedule.send(me + 1, whole);
  if (me > 0) schedule.combine(schedule.recv_staged(me - 1, whole), Operand::only);
  return 1;
}

}  // namespace

/// In round d each rank sends what it has combined 2^d ranks upwards (Hillis & Steele 1986):
///
///     p = 6    0>1 1>2 2>3 3>4 4>5    0>2 1>3 2>4 3>5    0>4 1>5
///
/// ceil(log2 p) (alpha + m beta). An exscan takes 1 + ceil(log2(p - 1)) rounds.
Schedule scan_recursive_doubling(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Rank first = shift(schedule, problem);
  const Rank me = problem.rank;
  for (int distance = 1; first <= me && distance < problem.p - first; distance *= 2) {
    if (me + distance < problem.p) schedule.send(me + distance, whole);
    if (me - distance >= first) schedule.reduce(me - distance, whole, Operand::left);
  }
  return schedule.done();
}

/// Up a binomial tree, then down again to the ranks between (Brent & Kung 1982). O(p) messages in
/// all, where recursive doubling has O(p log p):
///
///     p = 6    0>1 2>3 4>5    1>3    3>5    1>2 3>4
///
/// At most 2 ceil(log2 p) - 1 rounds of alpha + m beta; an exscan takes one more.
Schedule scan_up_down(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Rank first = shift(schedule, problem);
  const Rank me = problem.rank;
  const int number = me - first + 1;    // of ranks up to this one
  const int height = number & -number;  // of ranks whose contributions the way up brings
  const auto send = [&](int distance) {
    if (me + distance < problem.p) schedule.send(me + distance, whole);
  };
  for (int distance = 1; distance < height; distance *= 2) {
    schedule.reduce(me - distance, whole, Operand::left);
  }
  if (height > 0) send(height);
  if (height < number) schedule.reduce(me - height, whole, Operand::left);
  for (int distance = height / 2; distance >= 1; distance /= 2) send(distance);
  return schedule.done();
}

/// Exscan in fewer rounds than the scan of a shifted vector. Round 1 sends the contribution of the
/// rank itself too, so that results cover 1, 3, 6, 12, .. ranks instead of 1, 2, 4, 8, ..:
///
///     p = 6    0>1 1>2 2>3 3>4 4>5    0>2 1>3 2>4 3>5    1>4 2>5
///
/// ceil(log2(p - 1) + log2(4 / 3)) (alpha + m beta) (Träff 2025, arXiv 2507.04785).
Schedule exscan_doubling_123(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Rank me = problem.rank;
  const auto send = [&](int distance) {
    if (me + distance < problem.p) schedule.send(me + distance, whole);
  };
  send(1);
  const StepId below = me > 0 ? schedule.recv_staged(me - 1, whole) : ScheduleBuilder::none;
  if (me + 2 < problem.p) schedule.combine(below, Operand::left);
  send(2);
  schedule.combine(below, Operand::only);
  if (me >= 2) schedule.reduce(me - 2, whole, Operand::left);
  for (int distance = 3; me > 0 && distance < problem.p - 1; distance *= 2) {
    send(distance);
    if (me > distance) schedule.reduce(me - distance, whole, Operand::left);
  }
  return schedule.done();
}

}  // namespace tutti
