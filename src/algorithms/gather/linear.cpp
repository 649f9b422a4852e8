/// Linear gather: everyone sends to the root, all at once, one after the other, or as they come.
#include "algorithms/linear.hpp"

namespace tutti {

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// The root receives p - 1 messages in whatever sequence they come.
Schedule gather_linear(const Problem& problem) { return linear(problem, Towards::root, false); }

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in the
/// order.
Schedule gather_linear_sequence(const Problem& problem) {
  return linear(problem, Towards::root, true);
}

/// The synchronised gather without its fixed sequence: the root posts the receive of a rank's block
/// when that rank has come and one of `flight` slots is free. A block too large to be sent unasked
/// moves only then, so that no more than `flight` of them crowd the root's link, and the link never
/// waits for a late rank: any sequence that does not idle is optimal in the linear class, so that
/// no prediction is needed.
///
///     root   await 1  await 2  ..  recv 1 (after await 1, a slot)  recv 2 (after await 2, a slot)
///
/// (p - 1)(2 alpha + m beta) at most.
Schedule gather_linear_pull(const Problem& problem) { return linear_pull(problem, Towards::root); }

}  // namespace tutti
