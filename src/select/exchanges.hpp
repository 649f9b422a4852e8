/// Choosing where no arrivals are expected.
#pragma once

#include "select/selection.hpp"

namespace tutti {

/// Larger blocks stay with an MPI that spins: moving them takes longer than the slices of the
/// scheduler that spinning costs.
inline constexpr Bytes max_stand_in_block = Bytes{8} << 10;

/// Where ranks outnumber cores and the MPI spins while it waits, it loses slices of the scheduler,
/// whatever it runs: a few messages that move no more than they must stand in for it, up to
/// `max_stand_in_block` where all ranks know the block.
[[nodiscard]] Choice choose_beside_spinning(const Features& features, const Machine& machine);

/// The MPI's own. For bcast and allgather there are also the candidates with their modelled times:
/// native, taken as the best of what MPIs have, and where arrivals count (see `weighs_arrivals`)
/// the points that make use of them, charged twice the forecast's error where they rely on it. The
/// reason names the one that would gain a tenth, if there is one; they run where they are asked
/// for.
[[nodiscard]] Choice choose_exchange(const Features& features, const Machine& machine);

}  // namespace tutti
