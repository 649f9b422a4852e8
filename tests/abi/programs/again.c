/* 400 gathers and scatters of one size in a loop, each with a late rank; checks its own data.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 400, BLOCK = 256 };

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank, p, wrong = 0, total = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  int* all = calloc((size_t)p * BLOCK, sizeof *all);
  int mine[BLOCK];
  for (int call = 0; call < CALLS; ++call) {
    for (int i = 0; i < BLOCK; ++i) mine[i] = 1000 * call + 10 * i + rank;
    if (rank == p - 1) usleep(500);
    MPI_Gather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < p * BLOCK && rank == 0; ++i) {
      if (all[i] != 1000 * call + i % BLOCK * 10 + i / BLOCK) ++wrong;
      all[i] += 1;
    }
    if (rank == 0) usleep(500);
    MPI_Scatter(all, BLOCK, MPI_INT, mine, BLOCK, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BLOCK; ++i) wrong += mine[i] != 1000 * call + 10 * i + rank + 1;
  }
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && total == 0) printf("correct\n");
  MPI_Finalize();
  free(all);
  return wrong != 0 || total != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
