/// Starts the background thread if the MPI allows it.
#pragma once

namespace tutti {

/// Starts the process's background thread, unless it runs. False if it is not allowed: it needs
/// MPI_THREAD_MULTIPLE, and a notice of the end of MPI (can_end_threads).
[[nodiscard]] bool start_thread();

}  // namespace tutti
