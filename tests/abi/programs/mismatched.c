/* An erroneous program: only rank 0 starts nonblocking collectives, with one buffer for both sides.
 * If the MPI does not notice, the program itself reports the error natively. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int errors;

static void expect_error(int code) {
  if (code == MPI_SUCCESS) ++errors;
}

int main(int argc, char** argv) {
  int rank, size, all = 0;
  MPI_Request request;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  /* Never freed: requests stay open. */
  int* data = calloc((size_t)(2 * size), sizeof *data);
  if (rank == 0) {
    expect_error(MPI_Igather(data, 2, MPI_INT, data, 2, MPI_INT, 0, comm, &request));
    expect_error(MPI_Iscatter(data, 2, MPI_INT, data, 2, MPI_INT, 0, comm, &request));
  }
  expect_error(MPI_Iallgather(data + rank, 1, MPI_INT, data, 1, MPI_INT, comm, &request));
  expect_error(MPI_Iallreduce(data, data, 2, MPI_INT, MPI_SUM, comm, &request));
  const int code = MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, comm);
  MPI_Finalize();
  return code != MPI_SUCCESS || all != 0;
}
