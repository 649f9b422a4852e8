/* Spawns a process, which runs without the preloaded library, and calls collectives together with
 * it; checks its own data. */
#include <mpi.h>
#include <stdio.h>

enum { rounds = 30, most = 16 };

int main(int argc, char** argv) {
  int rank = 0;
  int p = 0;
  int wrong = 0;
  MPI_Comm others;
  MPI_Comm all;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&others);
  const int is_parent = others == MPI_COMM_NULL;
  if (is_parent) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(others, !is_parent, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &p);
  for (int round = 0; round < rounds; ++round) {
    int sum = 0;
    int ranks[most];
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    if (sum != p * (p - 1) / 2) ++wrong;
    MPI_Gather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, 0, all);
    for (int i = 0; i < p && rank == 0; ++i) wrong += ranks[i] != i;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, all);
  if (rank == 0) puts(wrong == 0 ? "correct" : "wrong");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  MPI_Finalize();
  return 0;
}
