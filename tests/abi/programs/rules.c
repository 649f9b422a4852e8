/* Collectives of several message sizes, whose results are compared. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

static void expect(int got, int right, const char* what) {
  if (got == right) return;
  printf("%s: got %d instead of %d\n", what, got, right);
  ++failures;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((const int*)in)[i];
}

static void broadcast(int count, int root, int rank) {
  int* data = malloc((size_t)count * sizeof *data);
  for (int i = 0; i < count; ++i) data[i] = rank == root ? 7 * i + root : -1;
  MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) expect(data[i], 7 * i + root, "bcast");
  free(data);
}

static void gather_all(int count, int p, int rank) {
  int* own = malloc((size_t)count * sizeof *own);
  int* all = malloc((size_t)count * (size_t)p * sizeof *all);
  for (int i = 0; i < count; ++i) own[i] = 100 * rank + i;
  MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < p * count; ++i) expect(all[i], 100 * (i / count) + i % count, "allgather");
  free(own);
  free(all);
}

static void add_up(int count, MPI_Op op, int p, int rank) {
  int* own = malloc((size_t)count * sizeof *own);
  int* sum = malloc((size_t)count * sizeof *sum);
  for (int i = 0; i < count; ++i) own[i] = rank + i;
  MPI_Allreduce(own, sum, count, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) expect(sum[i], p * (p - 1) / 2 + p * i, "allreduce");
  free(own);
  free(sum);
}

int main(int argc, char** argv) {
  int p, rank, all = 0;
  MPI_Op own;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(add, 1, &own);
  for (int call = 0; call < 3; ++call) {
    broadcast(2, call % p, rank);
    broadcast(16384, call % p, rank);
    gather_all(2, p, rank);
    gather_all(512, p, rank);
    add_up(1024, MPI_SUM, p, rank);
    if (argc > 1) add_up(1024, own, p, rank);
  }
  MPI_Op_free(&own);
  PMPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
