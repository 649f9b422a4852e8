/* Ranks hold shared results; the last rank stays outside the next call, where the others wait.
 *
 *   killed_sharing FIFO     ranks write "RANK PID" there once they hold results
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { COUNT = 10000 };

#ifdef NAMES_ONLY
/* The library calls this function instead of the C library's. */
int memfd_create(const char* name, unsigned flags) {
  (void)name;
  (void)flags;
  errno = ENOSYS;
  return -1;
}
#endif

static int numbers[COUNT];

int main(int argc, char** argv) {
  int rank, p;
  void *read, *written, *news;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  /* Held open, so that its reader sees the end of the last process. */
  const int fifo = argc > 1 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -1;
  if (fifo < 0) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  TUTTI_Allgather_shared(numbers, COUNT, MPI_INT, COUNT, MPI_INT, MPI_COMM_WORLD,
                         TUTTI_SHARED_READ_ONLY, &read);
  TUTTI_Allgather_shared(numbers, COUNT, MPI_INT, COUNT, MPI_INT, MPI_COMM_WORLD,
                         TUTTI_COPY_ON_WRITE, &written);
  *(int*)written = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  dprintf(fifo, "%d %d\n", rank, (int)getpid());
  while (rank == p - 1) pause();
  TUTTI_Bcast_shared(numbers, COUNT, MPI_INT, p - 1, MPI_COMM_WORLD, TUTTI_SHARED_READ_ONLY, &news);
  printf("survived\n");
  return EXIT_SUCCESS;
}
