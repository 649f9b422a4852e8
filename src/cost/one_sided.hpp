/// Closed forms of one-sided broadcasts as they are published.
#pragma once

#include "cost/pricing.hpp"

namespace tutti {

// Paznikov 2024, section 2: with q = max(o, g) a stage is a put of m bytes, one of the description
// and a signal, then the wire and the polling thread; the last rank's count is on the wire at the
// end. Correct only where the signal cannot overtake the data. P a power of two; seconds. O(1).

/// (o + (m - 1) G + 2 q + L + o_r) log2 P + o + L, the children with the largest subtrees first and
/// flushed together.
[[nodiscard]] double rma_binomial_seconds(int p, Bytes bytes, const Machine& machine,
                                          PriceModel model);
/// The same with the smallest first, each flushed before the next: of the k (k + 1) / 2 services in
/// sequence, k = log2 P, all but the last of each rank take a flush's way back too.
[[nodiscard]] double rma_ascending_seconds(int p, Bytes bytes, const Machine& machine,
                                           PriceModel model);

}  // namespace tutti
