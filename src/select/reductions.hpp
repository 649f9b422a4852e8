/// Which algorithm may run a reduction: associations are part of the result.
#pragma once

#include "select/selection.hpp"

namespace tutti {

/// The algorithm that combines contributions in the sequence of ranks and in the same way whatever
/// else there is: the vector's length, the root, when ranks come and where they sit. A reduce and
/// an allreduce of the same contributions have equal bits. Any associative operation will do.
[[nodiscard]] Specification fixed_reduction(Collective collective);

/// Does the way in which a specification combines follow from nothing but p, the root, sizes and
/// the operation? Not where it follows arrivals or distances.
[[nodiscard]] bool is_reproducible(const Specification& specification);

/// The setting where it fits the operation, and reproducibility where that is asked for. Else, and
/// where nothing was asked for, `fixed_reduction` if results are to be reproducible, or the MPI's
/// own: Tutti does not change the bits of a result on its own account.
/// docs/decisions/reductions-on-request.md
[[nodiscard]] Choice choose_reduction(const Setting& setting, const Features& features);

}  // namespace tutti
