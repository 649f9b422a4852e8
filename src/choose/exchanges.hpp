/// Choosing for collectives without a root's side.
#pragma once

#include "choose/choose.hpp"

namespace tutti {

/// The MPI's own, but where that spins on shared cores: a few rounds that move no more than they
/// must lose no slices of the scheduler. For bcast and allgather there are also the candidates with
/// their modelled times: native, taken as the best of what MPIs have, and where arrivals count (see
/// `weighs_arrivals`) the points that make use of them, charged twice the forecast's error where
/// they rely on it. The reason names the one that would gain a tenth, if there is one; they run
/// where they are asked for.
[[nodiscard]] Choice choose_exchange(const Situation& situation, const Machine& machine);

}  // namespace tutti
