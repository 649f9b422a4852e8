/* Calls functions with large counts that some library of the process has, as a binding does that
 * was built for a newer MPI: within the world and between its halves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                               \
  X(Bcast_c, (void*, MPI_Count, MPI_Datatype, int, MPI_Comm))                                      \
  X(Gather_c,                                                                                      \
    (const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int, MPI_Comm))         \
  X(Gatherv_c, (const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*,    \
                MPI_Datatype, int, MPI_Comm))                                                      \
  X(Allgatherv_c, (const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*, \
                   MPI_Datatype, MPI_Comm))                                                        \
  X(Allreduce_c, (const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm))                  \
  X(Reduce_scatter_c, (const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

static void check(int holds, const char* what, const char* where) {
  if (holds) return;
  printf("wrong: %s %s\n", what, where);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Each rank sends its number. This one hears of `others` ranks, from number `first` on. */
struct calls {
  const char* where;
  MPI_Comm comm;
  int rank;
  int others;
  int first;
  int root;
  int is_root;
};

static void check_all(const struct calls* c, const int* found, int stride, const char* what) {
  for (int i = 0; i < c->others; ++i) check(found[stride * i] == c->first + i, what, c->where);
}

static void run(const struct calls* c) {
  /* No rank may read an array that has no significance there. */
  const MPI_Count* no_counts = (const MPI_Count*)8;
  const MPI_Aint* no_displs = (const MPI_Aint*)8;
  MPI_Count* counts = malloc((size_t)c->others * sizeof *counts);
  MPI_Aint* displs = malloc((size_t)c->others * sizeof *displs);
  int* all = malloc((size_t)c->others * 2 * sizeof *all);
  for (int i = 0; i < c->others; ++i) {
    counts[i] = 1;
    displs[i] = 2 * i;
  }
  check(!Gather_c(&c->rank, 1, MPI_INT, all, 1, MPI_INT, c->root, c->comm), "gather", c->where);
  if (c->is_root) check_all(c, all, 1, "gathered");
  check(!Gatherv_c(&c->rank, 1, MPI_INT, all, c->is_root ? counts : no_counts,
                   c->is_root ? displs : no_displs, MPI_INT, c->root, c->comm),
        "gatherv", c->where);
  if (c->is_root) check_all(c, all, 2, "gathered by gatherv");
  check(!Allgatherv_c(&c->rank, 1, MPI_INT, all, counts, displs, MPI_INT, c->comm), "allgatherv",
        c->where);
  check_all(c, all, 2, "gathered by allgatherv");
  int sum = 0;
  check(!Allreduce_c(&c->rank, &sum, 1, MPI_INT, MPI_SUM, c->comm), "allreduce", c->where);
  check(sum == c->others * c->first + c->others * (c->others - 1) / 2, "sum", c->where);
  free(counts);
  free(displs);
  free(all);
}

/* 1 element for each rank: the sum of its numbers at all ranks. */
static void reduce_and_scatter(int rank, int p) {
  MPI_Count* counts = malloc((size_t)p * sizeof *counts);
  int* mine = malloc((size_t)p * sizeof *mine);
  for (int i = 0; i < p; ++i) {
    counts[i] = 1;
    mine[i] = i;
  }
  int found = -1;
  check(!Reduce_scatter_c(mine, &found, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "reduce_scatter",
        "");
  check(found == p * rank, "scattered", "");
  free(counts);
  free(mine);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
#define FIND(name, parameters) *(void**)&(name) = dlsym(RTLD_DEFAULT, "MPI_" #name);
  FUNCTIONS(FIND)
  if (Bcast_c == NULL) {
    if (rank == 0) puts("absent");
    MPI_Finalize();
    return 0;
  }
  const struct calls within = {"within the world", MPI_COMM_WORLD, rank, p, 0, 0, rank == 0};
  run(&within);
  reduce_and_scatter(rank, p);
  /* More elements than an int counts, of no bytes. */
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  check(!Bcast_c(&rank, (MPI_Count)1 << 40, nothing, 0, MPI_COMM_WORLD), "bcast", "of nothing");
  MPI_Type_free(&nothing);

  const int half = p / 2;
  const int is_low = rank < half;
  MPI_Comm group;
  MPI_Comm between;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_low ? half : 0, 1, &between);
  const int root = !is_low ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  const struct calls across = {"between groups",         between,           rank,
                               is_low ? p - half : half, is_low ? half : 0, root,
                               root == MPI_ROOT};
  run(&across);
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
  if (rank == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
