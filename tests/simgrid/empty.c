/* Collectives without data, and an alltoallv with some, on any number of ranks. Rank 0 prints how
 * many ranks received what they should. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const MPI_Comm comm = MPI_COMM_WORLD;
  const size_t size = (size_t)p * sizeof(int);
  int* none = calloc((size_t)p, sizeof(int));
  int* one = malloc(size);
  int* places = malloc(size);
  int* sent = malloc(size);
  int* received = malloc(size);
  for (int i = 0; i < p; ++i) {
    one[i] = 1;
    places[i] = i;
    sent[i] = rank * p + i;
    received[i] = -1;
  }
  MPI_Bcast(received, 0, MPI_INT, 0, comm);
  MPI_Reduce(sent, received, 0, MPI_INT, MPI_SUM, 0, comm);
  MPI_Allreduce(sent, received, 0, MPI_INT, MPI_SUM, comm);
  MPI_Scan(sent, received, 0, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(sent, received, 0, MPI_INT, MPI_SUM, comm);
  MPI_Gather(sent, 0, MPI_INT, received, 0, MPI_INT, 0, comm);
  MPI_Scatter(sent, 0, MPI_INT, received, 0, MPI_INT, 0, comm);
  MPI_Allgather(sent, 0, MPI_INT, received, 0, MPI_INT, comm);
  MPI_Alltoall(sent, 0, MPI_INT, received, 0, MPI_INT, comm);
  MPI_Gatherv(sent, 0, MPI_INT, received, none, places, MPI_INT, 0, comm);
  MPI_Scatterv(sent, none, places, MPI_INT, received, 0, MPI_INT, 0, comm);
  MPI_Allgatherv(sent, 0, MPI_INT, received, none, places, MPI_INT, comm);
  MPI_Alltoallv(sent, none, places, MPI_INT, received, none, places, MPI_INT, comm);
  MPI_Reduce_scatter(sent, received, none, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(sent, received, 0, MPI_INT, MPI_SUM, comm);
  int right = 1;
  for (int i = 0; i < p; ++i) right = right && received[i] == -1;
  MPI_Alltoallv(sent, one, places, MPI_INT, received, one, places, MPI_INT, comm);
  for (int i = 0; i < p; ++i) right = right && received[i] == i * p + rank;
  int all = 0;
  MPI_Reduce(&right, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0) printf("%d of %d\n", all, p);
  free(none);
  free(one);
  free(places);
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
