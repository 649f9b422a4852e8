/* Spawns a process, which runs without the preloaded library, and calls collectives together with
 * it; checks its own data. The parents also call a function with large counts that their MPI lacks,
 * as a binding does that was built for a newer MPI: the preloaded library refuses the call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { rounds = 30, most = 16 };

static int is_refused(MPI_Comm all, int rank) {
  int (*gatherv)(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,
                 MPI_Datatype, int, MPI_Comm) = NULL;
  MPI_Count counts[most];
  MPI_Aint places[most];
  int ranks[most];
  int class = MPI_SUCCESS;
  for (int i = 0; i < most; ++i) {
    counts[i] = 1;
    places[i] = i;
  }
  *(void**)&gatherv = dlsym(RTLD_DEFAULT, "MPI_Gatherv_c");
  if (gatherv == NULL) return 0;
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Error_class(gatherv(&rank, 1, MPI_INT, ranks, counts, places, MPI_INT, 0, all), &class);
  return class == MPI_ERR_UNSUPPORTED_OPERATION;
}

int main(int argc, char** argv) {
  int rank = 0;
  int p = 0;
  int wrong = 0;
  int total = 0;
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
  /* An MPI that has the function would wait for the spawned process. */
  if (is_parent && MPI_VERSION < 4 && !is_refused(all, rank)) ++wrong;
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, all);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
