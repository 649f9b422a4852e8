/* An error handler frees the communicator of the call that failed. */
#include <mpi.h>
#include <stdio.h>

static int handled;

static void free_comm(MPI_Comm* comm, int* error, ...) {
  (void)error;
  /* MPICH keeps its own handle where this argument points. */
  MPI_Comm copy = *comm;
  MPI_Comm_free(&copy);
  ++handled;
}

int main(int argc, char** argv) {
  int rank = 0;
  int all[64];
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(free_comm, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  const int error = MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 1000, comm);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(error != MPI_SUCCESS && handled == 1 ? "correct" : "wrong");
  MPI_Finalize();
  return 0;
}
