/// Linear scatter: the root sends to all at once, one after the other, or on request.
#include "algorithms/linear.hpp"

namespace tutti {

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// All p - 1 sends are in flight at once.
Schedule scatter_linear(const Problem& problem) { return linear(problem, Towards::others, false); }

/// LIN of Proficz 2020, section 2.1: a late rank delays all ranks after it in the order.
Schedule scatter_linear_sequence(const Problem& problem) {
  return linear(problem, Towards::others, true);
}

/// The root serves ranks in the sequence of their requests. This needs no prediction, and a late
/// rank delays no other rank, whether the MPI sends eagerly or not.
///
///     root   await 1  await 2  ..  send 1 (after await 1)  send 2 (after await 2)  ..
///
/// (p - 1)(2 alpha + m beta) at most.
Schedule scatter_linear_pull(const Problem& problem) {
  return linear_pull(problem, Towards::others);
}

}  // namespace tutti
