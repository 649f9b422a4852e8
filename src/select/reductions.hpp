/// Selection for reductions, whose results depend on the sequence of combinations.
#pragma once

#include "select/selection.hpp"

namespace tutti {

/// The algorithm that combines contributions in the sequence of ranks, independent of the vector's
/// length, the root, arrivals and process mapping. A reduce and an allreduce of the same
/// contributions have equal bits. Valid for any associative operation.
[[nodiscard]] Specification fixed_reduction(Collective collective);

/// True if the sequence of combinations depends only on p, the root, sizes and the operation; false
/// if it depends on arrivals or distances.
[[nodiscard]] bool is_reproducible(const Specification& specification);

/// The requested algorithm, if it is valid for the operation and, if required, reproducible. Else,
/// and without a request, `fixed_reduction` if results must be reproducible, or the MPI's own,
/// because Tutti does not change the bits of results unless requested
/// (docs/decisions/reductions-on-request.md).
[[nodiscard]] Choice choose_reduction(const Setting& setting, const Features& features);

}  // namespace tutti
