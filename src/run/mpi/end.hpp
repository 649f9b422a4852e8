/// The end of MPI, and whether Tutti will hear of it in time.
#pragma once

namespace tutti {

/// Notes an address in the preloaded front, through which calls of this program have come.
void note_front(const void* address);

/// MPI ends. False if that had been noted before. From then on nothing is begun that has to be
/// ended before MPI.
bool note_end_of_mpi();
[[nodiscard]] bool is_end_of_mpi();

/// May a thread that calls MPI be started: will Tutti be told of the end before MPI breaks under
/// it? Where MPI_Finalize takes the locks away first, the program's calls of it must come to Tutti:
/// to the preloaded front, or to the MPI_Finalize of this library, if that is linked before the
/// MPI. Sessions end without any such sign.
[[nodiscard]] bool can_end_threads();

}  // namespace tutti
