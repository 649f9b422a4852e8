/// Lower bounds on the end of any collective, for given sizes and arrivals.
#pragma once

#include "algorithms/problems.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// A lower bound on the time of the last exit of a call, counted from 0; at least the last of its
/// arrivals, here the true ones, in the unit of the machine's latency (alpha), for which a message
/// also occupies a port; each byte takes `per_byte` more (beta). `receiver`: `background` if data
/// may reach a rank before its arrival, as eager messages do. A gather's bound is for trees that do
/// not split blocks. O(p log p); alltoallv O(p^2).
[[nodiscard]] double lower_bound(const Call& call, const Machine& machine,
                                 Runner receiver = Runner::caller);

}  // namespace tutti
