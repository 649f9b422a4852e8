/* Broadcasts on more communicators than Tutti duplicates, and then reduces on a further one with an
 * operation of its own, which must get whole vectors. */
#include <mpi.h>
#include <stdio.h>

enum { communicators = 260, length = 1000 };

static int parts = 0;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  if (*count != length) ++parts;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((const int*)in)[i];
}

int main(int argc, char** argv) {
  int p, rank, all = 0, failures = 0;
  static int own[length], sum[length];
  MPI_Comm comm;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(add, 0, &op);
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int value = rank == 0 ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    failures += value != i;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 0; call < 2; ++call) {
    for (int i = 0; i < length; ++i) own[i] = rank + i;
    MPI_Allreduce(own, sum, length, MPI_INT, op, comm);
    for (int i = 0; i < length; ++i) failures += sum[i] != p * (p - 1) / 2 + p * i;
  }
  failures += parts;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return failures != 0 || all != 0;
}
