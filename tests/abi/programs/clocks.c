/* Broadcasts by ranks of even number, all of which arrive 100 ms after the others, on a
 * communicator that is freed before the end: clocks CALLS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { count = 256, late_by = 100000 };

int main(int argc, char** argv) {
  int p, rank, wrong = 0, all = 0;
  int own[count];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &rank);
  int* gathered = malloc((size_t)p * sizeof *gathered);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  for (int call = 0; call < calls; ++call) {
    const int root = call % ((p + 1) / 2) * 2;
    if (call == calls / 2) { /* where programs may exchange arrivals, this begins it */
      MPI_Gather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, 0, comm);
    }
    if (rank % 2 == 0) usleep(late_by);
    for (int i = 0; i < count; ++i) own[i] = rank == root ? call + i : -1;
    MPI_Bcast(own, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) wrong += own[i] != call + i;
  }
  free(gathered);
  PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  MPI_Comm_free(&comm);
  if (rank == 0 && all == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
