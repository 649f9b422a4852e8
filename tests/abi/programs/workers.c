/* Ranks 1, 2, .. call collectives of their own; rank 0 calls none, and ends after them. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, largest = 0;
  MPI_Comm workers;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &workers);
  sleep(rank == 0 ? 2 : 1);
  if (rank != 0) {
    MPI_Allreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, workers);
    MPI_Comm_free(&workers);
  }
  MPI_Finalize();
  return 0;
}
