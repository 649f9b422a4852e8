/// Barriers: messages without bytes, each sent after all that its rank has received.
#include <algorithm>
#include <ranges>

#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// Up a k-nomial tree and down again: 2 (p - 1) messages in 2 ceil(logk p) rounds.
Schedule barrier_tree(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  const std::vector<Position> children = tree.children(me);
  for (const Position child : children) schedule.await_signal(problem.rank_at(child));
  schedule.wait_all();
  if (me != 0) {
    schedule.signal(problem.rank_at(tree.parent(me)));
    schedule.wait(schedule.await_signal(problem.rank_at(tree.parent(me))));
  }
  for (const Position child : children | std::views::reverse) {
    schedule.signal(problem.rank_at(child));
  }
  return schedule.done();
}

/// All positions signal position 0, which replies after the last signal, to the last position
/// first: the k-nomial barrier with k = p. 2 (p - 1) messages.
Schedule barrier_linear(const Problem& problem) {
  return barrier_tree(problem.with_k(std::max(problem.p, 2)));
}

/// Position v signals v + d and awaits v - d, for d = 1, k, k^2, .. and their multiples below the
/// next power. After the round of k^i it knows that the k^(i+1) - 1 positions before it have
/// entered (Hensgen, Finkel & Manber 1988). ceil(logk p) rounds for any p, k - 1 messages per rank
/// and round.
Schedule barrier_dissemination(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const int k = problem.parameters.k;
  const Position me = problem.position();
  for (long step = 1; step < p; step *= k) {
    for (int digit = 1; digit < k && digit * step < p; ++digit) {
      const auto distance = static_cast<int>(digit * step);
      schedule.signal(problem.rank_at((me + distance) % p));
      schedule.await_signal(problem.rank_at((me - distance + p) % p));
    }
    schedule.wait_all();
  }
  return schedule.done();
}

}  // namespace tutti
