/// Linear scatter: the root sends to all at once, one after the other, after each rank's signal, or
/// on request.
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
Schedule scatter_linear(const Problem& problem) { return linear(problem, false); }

/// LIN of Proficz 2020, section 2.1: a late rank delays all ranks after it in the order.
Schedule scatter_linear_sequence(const Problem& problem) { return linear(problem, true); }

/// The mirror of the synchronised gather: a rank signals its arrival, the root sends the first
/// segment and the rest, and continues with the next rank after the first segment.
///
///     root   await 1  send first(1)  send rest(1)  wait first(1)  await 2  send first(2) ..
Schedule scatter_linear_sync(const Problem& problem) { return linear_sync(problem); }

/// The root serves ranks in the sequence of their requests. This needs no prediction, and a late
/// rank delays no other rank, whether the MPI sends eagerly or not.
///
///     root   await 1  await 2  ..  send 1 (after await 1)  send 2 (after await 2)  ..
///
/// (p - 1)(2 alpha + m beta) at most.
Schedule scatter_linear_pull(const Problem& problem) { return linear_pull(problem); }

}  // namespace tutti
