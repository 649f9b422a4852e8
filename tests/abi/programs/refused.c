/* Continues after a collective returns an error: on all ranks, then on the odd and the even ones.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  int mine = 1;
  int all[64];
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  for (int part = 0; part < 2; ++part) {
    MPI_Comm comm = part == 0 ? MPI_COMM_WORLD : half;
    int error = MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    printf("%s\n", error == MPI_SUCCESS ? "accepted" : "refused");
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
