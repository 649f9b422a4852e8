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
  X(Scatterv_c, (const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*, MPI_Count,   \
                 MPI_Datatype, int, MPI_Comm))                                                     \
  X(Alltoallv_c, (const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,             \
                  const MPI_Count*, const MPI_Aint*, MPI_Datatype, MPI_Comm))                      \
  X(Reduce_c, (const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm))                \
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

/* Each rank sends its number. This one hears of `others` ranks, from number `first` on; with it are
 * `ours` ranks, from number `own_first` on. */
struct calls {
  const char* where;
  MPI_Comm comm;
  int rank;
  int ours;
  int own_first;
  int others;
  int first;
  int root;
  int is_root;
};

static void check_all(const struct calls* c, const int* found, int stride, const char* what) {
  for (int i = 0; i < c->others; ++i) check(found[stride * i] == c->first + i, what, c->where);
}

static int sum_of_others(const struct calls* c) {
  return c->others * c->first + c->others * (c->others - 1) / 2;
}

/* No rank may read an array that has no significance there. */
static const MPI_Count* const no_counts = (const MPI_Count*)8;
static const MPI_Aint* const no_displs = (const MPI_Aint*)8;

/* The root sends a number to all others, and to each of them its own. */
static void scatter(const struct calls* c, const MPI_Count* counts, const MPI_Aint* displs,
                    int* all) {
  int value = c->is_root ? 70 : -1;
  check(!Bcast_c(&value, 1, MPI_INT, c->root, c->comm), "bcast", c->where);
  if (c->root != MPI_PROC_NULL) check(value == 70, "broadcast", c->where);
  for (int i = 0; i < c->others; ++i) all[2 * i] = c->first + i;
  value = -1;
  check(!Scatterv_c(all, c->is_root ? counts : no_counts, c->is_root ? displs : no_displs, MPI_INT,
                    &value, 1, MPI_INT, c->root, c->comm),
        "scatterv", c->where);
  if (c->root == 0) check(value == c->rank, "scattered", c->where);
}

/* Each rank sends to each other one the numbers of both. */
static void exchange(const struct calls* c, const MPI_Count* counts, const MPI_Aint* displs) {
  int* sent = malloc((size_t)c->others * 2 * sizeof *sent);
  int* found = malloc((size_t)c->others * 2 * sizeof *found);
  for (int i = 0; i < c->others; ++i) sent[2 * i] = 100 * c->rank + c->first + i;
  check(!Alltoallv_c(sent, counts, displs, MPI_INT, found, counts, displs, MPI_INT, c->comm),
        "alltoallv", c->where);
  for (int i = 0; i < c->others; ++i) {
    check(found[2 * i] == 100 * (c->first + i) + c->rank, "exchanged", c->where);
  }
  free(sent);
  free(found);
}

/* Both groups have as many elements: each of our ranks gets one for each other rank. */
static void reduce_and_scatter(const struct calls* c) {
  const int elements = c->ours * c->others;
  MPI_Count* counts = malloc((size_t)c->ours * sizeof *counts);
  int* mine = malloc((size_t)elements * sizeof *mine);
  int* found = malloc((size_t)c->others * sizeof *found);
  for (int i = 0; i < c->ours; ++i) counts[i] = c->others;
  for (int i = 0; i < elements; ++i) mine[i] = c->rank + i;
  check(!Reduce_scatter_c(mine, found, counts, MPI_INT, MPI_SUM, c->comm), "reduce_scatter",
        c->where);
  for (int i = 0; i < c->others; ++i) {
    const int element = (c->rank - c->own_first) * c->others + i;
    check(found[i] == sum_of_others(c) + c->others * element, "reduced", c->where);
  }
  free(counts);
  free(mine);
  free(found);
}

static void run(const struct calls* c) {
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
  scatter(c, counts, displs, all);
  exchange(c, counts, displs);
  int sum = 0;
  check(!Allreduce_c(&c->rank, &sum, 1, MPI_INT, MPI_SUM, c->comm), "allreduce", c->where);
  check(sum == sum_of_others(c), "sum", c->where);
  sum = 0;
  check(!Reduce_c(&c->rank, &sum, 1, MPI_INT, MPI_SUM, c->root, c->comm), "reduce", c->where);
  if (c->is_root) check(sum == sum_of_others(c), "sum at the root", c->where);
  reduce_and_scatter(c);
  free(counts);
  free(displs);
  free(all);
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
  const struct calls within = {"within the world", MPI_COMM_WORLD, rank, p, 0, p, 0, 0, rank == 0};
  run(&within);
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
  const struct calls low = {"between groups", between, rank, half, 0, p - half, half, root,
                            root == MPI_ROOT};
  const struct calls high = {"between groups", between, rank, p - half, half, half, 0, root, 0};
  run(is_low ? &low : &high);
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
  if (rank == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
