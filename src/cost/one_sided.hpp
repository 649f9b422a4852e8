/// Published closed forms of one-sided broadcasts.
#pragma once

#include "cost/pricing.hpp"

namespace tutti {

// Paznikov 2024, section 2. With q = max(o, g), a stage is a put of m bytes, a put of the
// description and a notification, then the wire and the polling thread; the last rank's completion
// count crosses the wire at the end. Valid only if notifications cannot overtake data. p must be a
// power of two. Seconds. O(1).

/// (o + (m - 1) G + 2 q + L + o_r) log2 P + o + L, the children with the largest subtrees first and
/// flushed together.
[[nodiscard]] double rma_binomial_seconds(int p, Bytes bytes, const Machine& machine,
                                          PriceModel model);
/// The same with the smallest subtrees first, each flushed before the next. Of the k (k + 1) / 2
/// stages in sequence, k = log2 P, all but the last of each rank include the return path of a
/// flush.
[[nodiscard]] double rma_ascending_seconds(int p, Bytes bytes, const Machine& machine,
                                           PriceModel model);

}  // namespace tutti
