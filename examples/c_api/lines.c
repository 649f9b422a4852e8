/* Gathers lines of different lengths by Tutti's C API.
 *
 *     L=/opt/tutti     where Tutti is installed
 *     mpicc -o lines lines.c -I$L/include -L$L/lib -ltutti-openmpi -Wl,-rpath,$L/lib
 *     mpirun -n 5 ./lines [algorithm]
 *
 * Errors of MPI and of TUTTI_Gatherv end the program, by the communicator's error handler.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

int main(int argc, char** argv) {
  int rank, p;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);

  if (argc > 1) {
    char message[512];
    int length = sizeof message;
    if (TUTTI_Algorithm_set("gatherv", argv[1], message, &length) != MPI_SUCCESS) {
      if (rank == 0) fprintf(stderr, "%s\n", message);
      MPI_Finalize();
      return 2;
    }
  }

  /* Rank i has a line of i letters. */
  char* line = malloc((size_t)rank + 1);
  memset(line, 'a' + rank % 26, (size_t)rank);
  line[rank] = '\n';
  int* counts = NULL;
  int* displs = NULL;
  char* text = NULL;
  int total = 0;
  if (rank == 0) {
    counts = malloc((size_t)p * sizeof *counts);
    displs = malloc((size_t)p * sizeof *displs);
    for (int i = 0; i < p; ++i) {
      counts[i] = i + 1;
      displs[i] = total;
      total += counts[i];
    }
    text = malloc((size_t)total);
  }
  TUTTI_Gatherv(line, rank + 1, MPI_CHAR, text, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);

  if (rank == 0) {
    char what[256];
    int length = sizeof what;
    if (TUTTI_Algorithm_last(MPI_COMM_WORLD, "gatherv", what, &length) != MPI_SUCCESS) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("%.*s%s\n", total, text, what);
  }
  free(text);
  free(displs);
  free(counts);
  free(line);
  MPI_Finalize();
  return 0;
}
