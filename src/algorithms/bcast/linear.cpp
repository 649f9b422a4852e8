/// Linear broadcast: the root sends to everyone, all at once, one after the other, or as they ask.
#include "algorithms/linear.hpp"

namespace tutti {

/// (p - 1)(alpha + m beta); all p - 1 sends are in flight at once.
Schedule bcast_linear(const Problem& problem) { return linear(problem, Towards::others, false); }

/// One late rank holds up all that follow it in the order.
Schedule bcast_linear_sequence(const Problem& problem) {
  return linear(problem, Towards::others, true);
}

/// The root serves whoever has come: the online half of Patarasuk and Yuan's broadcast (2008),
/// without their passing on along the list of those that have come.
Schedule bcast_linear_pull(const Problem& problem) { return linear_pull(problem, Towards::others); }

}  // namespace tutti
