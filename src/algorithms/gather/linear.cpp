/// Linear gather: all ranks send to the root at once, one after the other, on its signal, or as
/// they arrive.
#include "algorithms/linear.hpp"

namespace tutti {

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// The root receives p - 1 messages in any sequence.
Schedule gather_linear(const Problem& problem) { return linear(problem, false); }

/// LIN of Proficz 2020, section 2.1: a late rank delays all ranks after it in the order.
Schedule gather_linear_sequence(const Problem& problem) { return linear(problem, true); }

/// Each rank waits for a message without bytes, then sends its first segment and the rest
/// (Proficz 2020, LS, section 4.2; Open MPI's linear_sync):
///
///     root   recv first(1)  signal 1  recv rest(1)  wait first(1)  recv first(2)  signal 2 ..
///
/// The rest of one rank thus overlaps the signal to the next rank and its first segment.
Schedule gather_linear_sync(const Problem& problem) { return linear_sync(problem); }

/// The synchronised gather without its fixed sequence: the root posts the receive of a rank's block
/// when that rank has announced itself and one of `flight` slots is free. A rendezvous message
/// moves only then, so at most `flight` blocks share the root's link, and the link never waits for
/// a late rank. Any sequence that does not idle is optimal among linear gathers, so this needs no
/// prediction.
///
///     root   await 1  await 2  ..  recv 1 (after await 1, a slot)  recv 2 (after await 2, a slot)
///
/// (p - 1)(2 alpha + m beta) at most.
Schedule gather_linear_pull(const Problem& problem) { return linear_pull(problem); }

}  // namespace tutti
