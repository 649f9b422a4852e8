/// Properties of reduction operations.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Is this handle the program's own operation, not a predefined one? True for invalid handles
/// too, but for MPI_OP_NULL.
[[nodiscard]] bool is_programs_own(MPI_Op op);

/// Does a valid operation commute?
[[nodiscard]] bool commutes(MPI_Op op);

/// Is the result of `op` on elements of `type` the same, bit for bit, in whatever sequence and
/// association vectors are combined? True for predefined operations other than MPI_SUM and
/// MPI_PROD, and for these two on predefined integers. Minimum and maximum count although NaN and
/// the signs of zeros may make them depend on the sequence, which MPI leaves open. False for the
/// program's own operations and types. The handles may be invalid. Local, without a call of MPI.
[[nodiscard]] bool is_order_free(MPI_Op op, MPI_Datatype type);

}  // namespace tutti
