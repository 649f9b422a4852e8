/* Communicators with the handles of freed ones, and with other settings: nothing passes because it
 * did on an earlier one. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

enum { rounds = 200, calls = 6 };

int main(int argc, char** argv) {
  int rank = 0, wrong = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < rounds; ++round) {
    const char* algorithm = round % 3 == 0 ? "native" : "binomial";
    char text[256];
    int length = 0;
    if (round % 3 != 2) TUTTI_Algorithm_set("bcast", algorithm, NULL, &length);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < calls; ++call) {
      int sent = rank == call % 2 ? round + call : -1;
      MPI_Bcast(&sent, 1, MPI_INT, call % 2, comm);
      length = sizeof text;
      TUTTI_Algorithm_last(comm, "bcast", text, &length);
      wrong += sent != round + call || strncmp(text, algorithm, strlen(algorithm)) != 0;
    }
    MPI_Comm_free(&comm);
  }
  PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(sum == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return 0;
}
