/* One rank is killed while the others or their threads wait for it. Never ends by itself. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { COUNT = 50000 };

static int mine[COUNT];
static int all[64 * COUNT];

/* The killed rank is the root, which others call, or a rank that the root's thread calls. */
int main(int argc, char** argv) {
  int level, rank, p;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const int killed = argc > 1 && strcmp(argv[1], "root") == 0 ? 0 : p - 1;
  int length = 0;
  TUTTI_Algorithm_set("gather", "BSLS", NULL, &length);
  TUTTI_Arrival_init(MPI_COMM_WORLD, 0.5);
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  TUTTI_Gather_init(mine, COUNT, MPI_INT, all, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 3; ++round) {
    TUTTI_Start(&request);
    TUTTI_Arrival_edge(MPI_COMM_WORLD);
    TUTTI_Wait(&request);
  }
  TUTTI_Start(&request);
  if (rank == killed) {
    usleep(200000);
    printf("killed\n");
    fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  TUTTI_Wait(&request);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("survived\n");
  return 0;
}
