/* Many equal calls on a communicator that is freed before the end: learn CALLS. With THEN, 3 more
 * calls follow under that setting. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef THEN
#include <tutti/tutti.h>
enum { more = 3 };
#else
enum { more = 0 };
#endif

enum { count = 16 };

int main(int argc, char** argv) {
  int p, rank, wrong = 0, all = 0;
  int own[count];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &rank);
  int* gathered = malloc(sizeof own * (size_t)p);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  for (int call = 0; call < calls + more; ++call) {
#ifdef THEN
    if (call == calls) TUTTI_Algorithm_set("allgather", THEN, NULL, NULL);
#endif
    for (int i = 0; i < count; ++i) own[i] = 100 * rank + i + call;
    MPI_Allgather(own, count, MPI_INT, gathered, count, MPI_INT, comm);
    for (int i = 0; i < p * count; ++i) {
      wrong += gathered[i] != 100 * (i / count) + i % count + call;
    }
  }
  free(gathered);
  PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  MPI_Comm_free(&comm);
  if (rank == 0 && all == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
