/* Calls MPI_Finalize in its own handler at the end of the process, which is registered before the
 * first collective. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void end(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  atexit(end);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", sum == size ? "correct" : "wrong");
  return sum == size ? EXIT_SUCCESS : EXIT_FAILURE;
}
