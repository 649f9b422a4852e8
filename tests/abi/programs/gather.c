/* A plain MPI program with all gathers and scatters that checks its own data.
 *
 *   gather [init | thread]   how to initialise MPI; "thread" requests MPI_THREAD_MULTIPLE
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_ranks = 64, max_ints = max_ranks * max_ranks };

/* The contribution of `rank` at `index`. */
static int value(int rank, int index) { return 1000 * rank + index; }

/* Rank r has r + 1 ints; its block lies behind a gap of one. */
static void place(int size, int* counts, int* displs) {
  int next = 1;
  for (int r = 0; r < size; ++r) {
    counts[r] = r + 1;
    displs[r] = next;
    next += r + 2;
  }
}

static int gathered_wrong(int rank, int size, int root) {
  int counts[max_ranks];
  int displs[max_ranks];
  place(size, counts, displs);
  int mine[max_ranks];
  for (int i = 0; i <= rank; ++i) mine[i] = value(rank, i);
  static int all[max_ints];
  int wrong = 0;
  memset(all, -1, sizeof all);
  MPI_Gatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && rank == root; ++r) {
    for (int i = 0; i <= r; ++i) wrong += all[displs[r] + i] != value(r, i);
    wrong += all[displs[r] - 1] != -1;
  }
  MPI_Gather(mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && rank == root; ++r) wrong += all[r] != value(r, 0);
  return wrong;
}

static int scattered_wrong(int rank, int size, int root) {
  int counts[max_ranks];
  int displs[max_ranks];
  place(size, counts, displs);
  static int all[max_ints];
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i <= r; ++i) all[displs[r] + i] = value(r, i);
  }
  int mine[max_ranks];
  int wrong = 0;
  MPI_Scatterv(all, counts, displs, MPI_INT, mine, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i <= rank; ++i) wrong += mine[i] != value(rank, i);
  for (int r = 0; r < size; ++r) all[r] = value(r, 7);
  MPI_Scatter(all, 1, MPI_INT, rank == root ? MPI_IN_PLACE : (void*)mine, 1, MPI_INT, root,
              MPI_COMM_WORLD);
  wrong += rank != root && mine[0] != value(rank, 7);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "thread") == 0) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = 0;
  for (int root = 0; root < size; ++root) {
    wrong += gathered_wrong(rank, size, root);
    wrong += scattered_wrong(rank, size, root);
  }
  int total = 0;
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", total == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return wrong == 0 && total == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
