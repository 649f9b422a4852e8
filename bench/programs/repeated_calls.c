/* Calls of one collective in a row, and how long each tenth of them took: whether an algorithm is
 * selected that pays off late, such as an order by distances that have to be learned.
 *
 *   mpicc -O2 bench/programs/repeated_calls.c -o repeated_calls
 *   mpirun -n 8 ./repeated_calls allgather|allreduce|bcast|reduce BYTES CALLS
 *
 * BYTES are those of a rank's block, or of the vector. Roots take turns. Reductions add integers.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tenths = 10 };

/* The arguments of all calls. */
struct Repeated {
  int count; /* of integers */
  int p;
  int rank;
  int* own;
  int* all; /* room for the blocks of all ranks */
};

/* Each returns an integer that depends on the data. */

static int run_allgather(const struct Repeated* with, int call) {
  MPI_Allgather(with->own, with->count, MPI_INT, with->all, with->count, MPI_INT, MPI_COMM_WORLD);
  return with->all[(size_t)with->count * (size_t)(call % with->p)];
}

static int run_allreduce(const struct Repeated* with, int call) {
  MPI_Allreduce(with->own, with->all, with->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return with->all[call % with->count];
}

static int run_bcast(const struct Repeated* with, int call) {
  MPI_Bcast(with->own, with->count, MPI_INT, call % with->p, MPI_COMM_WORLD);
  return with->own[call % with->count];
}

static int run_reduce(const struct Repeated* with, int call) {
  const int root = call % with->p;
  MPI_Reduce(with->own, with->all, with->count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  return with->rank == root ? with->all[call % with->count] : 0;
}

static const struct {
  const char* name;
  int (*run)(const struct Repeated*, int);
} collectives[] = {{"allgather", run_allgather},
                   {"allreduce", run_allreduce},
                   {"bcast", run_bcast},
                   {"reduce", run_reduce}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 2 ? atoi(argv[2]) : 0;
  const int calls = argc > 3 ? atoi(argv[3]) : 0;
  int (*run)(const struct Repeated*, int) = NULL;
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i) {
    if (argc > 1 && strcmp(argv[1], collectives[i].name) == 0) run = collectives[i].run;
  }
  struct Repeated with = {.count = bytes / (int)sizeof(int)};
  MPI_Comm_size(MPI_COMM_WORLD, &with.p);
  MPI_Comm_rank(MPI_COMM_WORLD, &with.rank);
  if (run == NULL || with.count < 1 || calls < tenths) {
    if (with.rank == 0)
      fprintf(stderr,
              "expected: allgather, allreduce, bcast or reduce, BYTES from 4, CALLS from 10\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t block = (size_t)with.count * sizeof(int);
  with.own = malloc(block);
  with.all = malloc(block * (size_t)with.p);
  if (with.own == NULL || with.all == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  unsigned digest = 0;
  double total = 0;
  for (int tenth = 0; tenth < tenths; ++tenth) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int call = 0; call < calls / tenths; ++call) {
      memset(with.own, with.rank + call, block);
      digest = 31 * digest + (unsigned)run(&with, call);
    }
    const double seconds = MPI_Wtime() - begin;
    total += seconds;
    if (with.rank == 0)
      printf("tenth %2d: %.3f ms a call\n", tenth + 1, 1e3 * seconds / (calls / tenths));
  }
  if (with.rank == 0) printf("total %.3f s\ndigest %08x\n", total, digest);
  free(with.own);
  free(with.all);
  MPI_Finalize();
  return 0;
}
