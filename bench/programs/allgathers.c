/* Allgathers in a row, and how long each tenth of them took: whether an algorithm is selected that
 * pays off late, such as an order by distances that have to be learned.
 *
 *   mpicc -O2 bench/programs/allgathers.c -o allgathers
 *   mpirun -n 8 ./allgathers BYTES CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tenths = 10 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 1 ? atoi(argv[1]) : 0;
  const int calls = argc > 2 ? atoi(argv[2]) : 0;
  int p = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (bytes < 1 || calls < tenths) {
    if (rank == 0) fprintf(stderr, "expected: allgathers BYTES CALLS, 1 and 10 or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  char* const own = malloc((size_t)bytes);
  char* const all = malloc((size_t)bytes * (size_t)p);
  if (own == NULL || all == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  unsigned digest = 0;
  double total = 0;
  for (int tenth = 0; tenth < tenths; ++tenth) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int call = 0; call < calls / tenths; ++call) {
      memset(own, rank + call, (size_t)bytes);
      MPI_Allgather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD);
      digest = 31 * digest + (unsigned char)all[(size_t)bytes * (size_t)(call % p)];
    }
    const double seconds = MPI_Wtime() - begin;
    total += seconds;
    if (rank == 0)
      printf("tenth %2d: %.3f ms a call\n", tenth + 1, 1e3 * seconds / (calls / tenths));
  }
  if (rank == 0) printf("total %.3f s\ndigest %08x\n", total, digest);
  free(own);
  free(all);
  MPI_Finalize();
  return 0;
}
