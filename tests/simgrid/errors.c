/* What errors of Tutti end: the program, nothing, or a handler's call; and what MPI_Abort ends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int handled;
static void note(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  handled += *error != MPI_SUCCESS;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int rank, sum = 0, one = 1;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) puts(mode);
  if (strcmp(mode, "abort") == 0) {
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(mode, "return") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(mode, "apart") == 0) {
    if (rank == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(mode, "handle") == 0) {
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  }
  const int error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s, %d handled\n", error == MPI_SUCCESS ? "success" : "error", handled);
  MPI_Finalize();
  return 0;
}
