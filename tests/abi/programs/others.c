/* Calls that Tutti only counts, and with an argument one that it handles. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int one = 1;
  int sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; ++i) {
    MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Iscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
  MPI_Iallreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    MPI_Bcast_init(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
#endif
  printf("MPI %d\n", MPI_VERSION);
  if (argc > 1) MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
