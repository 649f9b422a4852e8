/* What a nonblocking reduction takes of the calls that it overlaps with, as agreements of Tutti's
 * tuners do: of every 20 calls the 9th begins an allreduce of 720 bytes, whose end the 13th awaits.
 * Blocks of 200 calls with and without such reductions alternate.
 *
 *   mpicc -O2 bench/programs/hidden_reductions.c -o hidden_reductions
 *   mpirun -n 8 ./hidden_reductions barrier|allgather [BLOCKS OF EACH KIND, 1 to 1000; 60]
 *
 * Prints medians over the blocks: a call, what a reduction adds to the block, and what to begin and
 * to end it takes, at the fastest rank and in the mean.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD

enum { calls = 200, every = 20, begins = 8, ends = 12, numbers = 90, max_blocks = 1000 };

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* times, int count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  return times[count / 2];
}

/* A block of calls; returns its seconds, and adds those of reductions at this rank. */
static double run(int gathers, int reduces, int* own, int* all, double* seen) {
  static long from[numbers];
  static long to[numbers];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    const double before = MPI_Wtime();
    if (reduces && i % every == begins) {
      MPI_Iallreduce(from, to, numbers, MPI_LONG, MPI_SUM, WORLD, &request);
    }
    if (reduces && i % every == ends) MPI_Wait(&request, MPI_STATUS_IGNORE);
    *seen += MPI_Wtime() - before;
    if (gathers) {
      MPI_Allgather(own, 2, MPI_INT, all, 2, MPI_INT, WORLD);
    } else {
      MPI_Barrier(WORLD);
    }
  }
  return MPI_Wtime() - began;
}

int main(int argc, char** argv) {
  static double plain[max_blocks];
  static double added[max_blocks];
  static double fastest[max_blocks];
  static double mean[max_blocks];
  int rank = 0;
  int p = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &p);
  const int gathers = argc > 1 && strcmp(argv[1], "allgather") == 0;
  const int is_known = gathers || (argc > 1 && strcmp(argv[1], "barrier") == 0);
  const int blocks = argc > 2 ? atoi(argv[2]) : 60;
  if (!is_known || blocks < 1 || blocks > max_blocks) {
    if (rank == 0) fprintf(stderr, "expected barrier or allgather, and 1 to 1000 blocks\n");
    MPI_Finalize();
    return 1;
  }
  int own[2] = {0};
  int* const all = malloc(sizeof own * (size_t)p);
  if (all == NULL) MPI_Abort(WORLD, 1);
  const double reductions = (double)calls / every;
  for (int i = 0; i < blocks; ++i) {
    double unused = 0;
    double seen = 0;
    const double without = run(gathers, 0, own, all, &unused);
    const double with = run(gathers, 1, own, all, &seen);
    plain[i] = without / calls * 1e6;
    added[i] = (with - without) / reductions * 1e6;
    MPI_Allreduce(&seen, &fastest[i], 1, MPI_DOUBLE, MPI_MIN, WORLD);
    MPI_Allreduce(&seen, &mean[i], 1, MPI_DOUBLE, MPI_SUM, WORLD);
    fastest[i] *= 1e6 / reductions;
    mean[i] *= 1e6 / reductions / p;
  }
  free(all);
  if (rank == 0) {
    printf(
        "call %.1f us; a reduction adds %.1f us, and takes %.1f us at the fastest rank, %.1f in "
        "the mean\n",
        median(plain, blocks), median(added, blocks), median(fastest, blocks),
        median(mean, blocks));
  }
  MPI_Finalize();
  return 0;
}
