/// Linear scatter: the root sends to everyone, all at once, one after the other, or as they ask.
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

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in the
/// order.
Schedule scatter_linear_sequence(const Problem& problem) {
  return linear(problem, Towards::others, true);
}

/// The root serves whoever asks, in the sequence in which they ask. No prediction is needed, and no
/// late rank holds up another, whatever the MPI does with messages whose receiver is not there.
///
///     root   await 1  await 2  ..  send 1 (after await 1)  send 2 (after await 2)  ..
///
/// (p - 1)(2 alpha + m beta) at most.
Schedule scatter_linear_pull(const Problem& problem) {
  return linear_pull(problem, Towards::others);
}

}  // namespace tutti
