/* The last rank stays within a reduction through node memory, where the others wait for it.
 *
 *   killed_in_node FIFO     ranks write "RANK PID" there from within the operation
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 100000 };

static int numbers[COUNT];
static int sums[COUNT];
static int rank, p, fifo; /* held open, so that its reader sees the end of the last process */

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  static int told = 0;
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
  if (told++ == 0) dprintf(fifo, "%d %d\n", rank, (int)getpid());
  while (rank == p - 1) pause();
}

int main(int argc, char** argv) {
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  fifo = argc > 1 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -1;
  if (fifo < 0) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  MPI_Op_create(add, 1, &op);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(numbers, sums, COUNT, MPI_INT, op, MPI_COMM_WORLD);
  printf("survived\n");
  return EXIT_SUCCESS;
}
