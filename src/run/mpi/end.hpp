/// The end of MPI, and the background thread, which must end before.
#pragma once

namespace tutti {

/// Notes an address in the preloaded front, through which this program's calls have come.
void note_front(const void* address);

/// Notes that MPI ends; false if it was noted before. From then on Tutti begins nothing that must
/// end before MPI does.
bool note_end_of_mpi();
[[nodiscard]] bool is_end_of_mpi();

/// Starts the process's background thread, unless it runs. False if it is not allowed: it needs
/// MPI_THREAD_MULTIPLE, and that Tutti learns of the end before MPI breaks under the thread. If
/// MPI_Finalize removes the locks first, the program's calls of it must come to Tutti: to the
/// preloaded front, or to this library's MPI_Finalize, if it is linked before the MPI. Sessions
/// give no such sign.
[[nodiscard]] bool start_thread();

}  // namespace tutti
