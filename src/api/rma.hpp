/// One-sided collectives at the end of MPI.
#pragma once

namespace tutti {

/// Completes and ends what is still open on any communicator, in the sequence of their opening.
void close_all_rma();

}  // namespace tutti
