/// The background thread, where the MPI lets it be.
#pragma once

namespace tutti {

/// Starts the process's background thread, unless it runs. False where it may not: it needs
/// MPI_THREAD_MULTIPLE, and an end of MPI that Tutti hears of (can_end_threads).
[[nodiscard]] bool start_thread();

}  // namespace tutti
