/// What some MPI libraries do wrong, told by their versions.
#pragma once

namespace tutti {

/// A message that was sent as packed bytes cannot be received with a datatype that has gaps: it
/// is truncated where a fragment of it ends within an element. MPICH before 4.2 over UCX
/// (pmodels/mpich pull request 6796).
[[nodiscard]] bool typed_receives_truncate();

}  // namespace tutti
