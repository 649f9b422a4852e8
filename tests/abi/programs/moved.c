/* Changes its working folder before the first collective.
 *
 *   moved FOLDER
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int all[64] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2 || chdir(argv[1]) != 0) return 1;
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all[1] == 1 ? "correct" : "wrong");
  return MPI_Finalize();
}
