/* A persistent gather of blocks of equal size, by the weak symbols of the preloaded library; checks
 * its own data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti/tutti.h"

#pragma weak TUTTI_Gatherv_init
#pragma weak TUTTI_Start
#pragma weak TUTTI_Wait
#pragma weak TUTTI_Request_free

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  int* all = calloc((size_t)p, sizeof *all);
  int* counts = calloc((size_t)p, sizeof *counts);
  int* displs = calloc((size_t)p, sizeof *displs);
  for (int i = 0; i < p; ++i) {
    counts[i] = 1;
    displs[i] = i;
  }
  int mine = 0;
  TUTTI_Request request;
  TUTTI_Gatherv_init(&mine, 1, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (int call = 0; call < 3; ++call) {
    TUTTI_Start(&request);
    mine = 100 * call + rank;
    TUTTI_Wait(&request);
    for (int i = 0; i < p && rank == 0; ++i) {
      if (all[i] != 100 * call + i) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
  }
  TUTTI_Request_free(&request);
  if (rank == 0) printf("correct\n");
  MPI_Finalize();
  free(all);
  free(counts);
  free(displs);
  return EXIT_SUCCESS;
}
