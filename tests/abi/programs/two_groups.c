/* What functions for the ranks of one group return on an inter-communicator. */
#include <mpi.h>
#include <stdio.h>
#include <tutti/tutti.h>

static int refuses(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class == MPI_ERR_COMM;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm half, both, made = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  int right = refuses(TUTTI_Comm_reorder(both, "gather", &made)) && made == MPI_COMM_NULL;
  right = refuses(TUTTI_Arrival_init(both, 0.5)) && right;
  right = refuses(TUTTI_Distances_measure(both, NULL, 0)) && right;
  int all = 0;
  PMPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "correct" : "wrong");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
