/// Linear broadcast: the root sends to all at once, one after the other, or on request.
#include "algorithms/linear.hpp"

namespace tutti {

/// (p - 1)(alpha + m beta); all p - 1 sends are in flight at once.
Schedule bcast_linear(const Problem& problem) { return linear(problem, false); }

/// A late rank delays all ranks after it in the order.
Schedule bcast_linear_sequence(const Problem& problem) { return linear(problem, true); }

/// The root serves ranks in the sequence of their requests: the online part of Patarasuk and Yuan's
/// broadcast (2008), without its forwarding along the list of arrived ranks.
Schedule bcast_linear_pull(const Problem& problem) { return linear_pull(problem); }

}  // namespace tutti
