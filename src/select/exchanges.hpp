/// Selection for oversubscribed nodes, and for collectives other than gathers and scatters.
#pragma once

#include "select/selection.hpp"

namespace tutti {

/// Larger blocks stay with an MPI that busy-waits, because their transfer takes longer than the
/// scheduler's time slices that busy-waiting costs.
inline constexpr Bytes max_stand_in_block = Bytes{8} << 10;

/// The selection for oversubscribed nodes with an MPI that busy-waits, and so loses scheduler time
/// slices with any algorithm. Selects few messages of minimal volume, for blocks up to
/// `max_stand_in_block` if all ranks know the block.
[[nodiscard]] Choice choose_beside_spinning(const Features& features, const Machine& machine);

/// Selects the MPI's own. For bcast and allgather it also lists candidates with modelled times:
/// native, as the best algorithm of MPI libraries, and with a forecast (see `weighs_arrivals`) the
/// algorithms that use arrivals, with twice the forecast's error added if they rely on it. The
/// reason names a candidate that would gain 10 %, if there is one; it runs only on request.
[[nodiscard]] Choice choose_exchange(const Features& features, const Machine& machine);

}  // namespace tutti
