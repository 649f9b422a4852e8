/* One rank's arguments are invalid in a small call, which the MPI is to run and which passes on the
 * other ranks: one_invalid CALLS. It does not take the call for a large one, which it would run
 * through node memory and wait in forever, and later calls are in step. Its place in the MPI's own
 * tree has no children. It is late, when the others have run so many small calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { small = 8, large = 4096 };

static int p, rank, wrong = 0;
static MPI_Comm comm;

static int cast(int count, int first) {
  int numbers[large];
  for (int i = 0; i < large; ++i) numbers[i] = rank == 0 ? first + i : -1;
  const int error = MPI_Bcast(numbers, count, MPI_INT, 0, comm);
  for (int i = 0; i < count; ++i) wrong += numbers[i] != first + i;
  return error;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &rank);
  for (int round = 0; round < 10; ++round) {
    cast(small, round);
    cast(large, round + 1);
  }
  const int is_bad = rank == p - 1, calls = atoi(argv[1]);
  int token = 0;
  if (is_bad) PMPI_Recv(&token, 1, MPI_INT, p - 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int call = 0; call < calls; ++call) {
    const int error = cast(is_bad ? -1 : small, 5);
    wrong += (error != MPI_SUCCESS) != is_bad;
    char text[256];
    int length = sizeof text;
    TUTTI_Algorithm_last(comm, "bcast", text, &length);
    wrong += strncmp(text, "native", 6) != 0;
  }
  if (rank == p - 2) PMPI_Send(&token, 1, MPI_INT, p - 1, 0, MPI_COMM_WORLD);
  for (int round = 0; round < 10; ++round) cast(large, round);
  int sum = 0;
  PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && sum == 0) puts("correct");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return sum != 0;
}
