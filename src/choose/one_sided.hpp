/// Choosing the algorithm of a one-sided collective: the root alone does, as its requests carry it.
#pragma once

#include "choose/choose.hpp"

namespace tutti {

/// The fastest candidate under LogGP with flushes and polling. There is no MPI's own. O(p log p)
/// and the parts of pipelined candidates, on some thousands of ranks tenths of a second.
[[nodiscard]] Choice choose_one_sided(const Situation& situation, const Machine& machine);

}  // namespace tutti
