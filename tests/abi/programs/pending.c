/* Frees a communicator while a request of the last rank is pending on it; then all ranks meet. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  int p = 0;
  int all[64];
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  int never;
  if (rank == p - 1) MPI_Recv_init(&never, 1, MPI_INT, 0, 1, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == p - 1) MPI_Request_free(&request);
  if (rank == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
