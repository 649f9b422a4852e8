/* An alltoall in place and a gather of 4 KiB for each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { block = 1024 };

int main(int argc, char** argv) {
  int p, rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* all = malloc((size_t)p * block * sizeof *all);
  for (int i = 0; i < p * block; ++i) all[i] = 100 * rank + i / block;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, block, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < p * block; ++i) wrong += all[i] != 100 * (i / block) + rank;
  int* own = malloc(block * sizeof *own);
  for (int i = 0; i < block; ++i) own[i] = rank;
  MPI_Gather(own, block, MPI_INT, all, block, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < p * block; ++i) wrong += all[i] != i / block;
  free(own);
  free(all);
  int total = 0;
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
