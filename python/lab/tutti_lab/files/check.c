/* Reports the nodes of the lab that an MPI sees, and the minimum time of a scatter of 2 Mi floats.
 *
 * Rank 0 prints one line of JSON. The time runs from the first arrival to the last exit, on the
 * clock that all nodes of the lab share. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FLOATS = 2 * 1024 * 1024 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_name(const void* left, const void* right) { return strcmp(left, right); }

/* The number of different processor names, valid at rank 0. */
static int names(int rank, int size) {
  char name[MPI_MAX_PROCESSOR_NAME] = {0};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  char* all = rank == 0 ? malloc((size_t)size * sizeof name) : NULL;
  MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  qsort(all, (size_t)size, sizeof name, by_name);
  int different = 1;
  for (int i = 1; i < size; ++i) {
    const char* this = all + (size_t)i * sizeof name;
    different += strcmp(this, this - sizeof name) != 0;
  }
  free(all);
  return different;
}

/* The number of groups of ranks that share memory, valid at rank 0. */
static int groups(void) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank, first, sum = 0;
  MPI_Comm_rank(node, &rank);
  first = rank == 0;
  MPI_Reduce(&first, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  return sum;
}

/* The minimum time of `repetitions` scatters in seconds, valid at rank 0; negative if data is
 * wrong.
 */
static double scatter(int rank, int size, int repetitions) {
  const int block = FLOATS / size;
  float* all = rank == 0 ? malloc((size_t)block * (size_t)size * sizeof(float)) : NULL;
  float* mine = malloc((size_t)block * sizeof(float));
  for (int i = 0; all != NULL && i < block * size; ++i) all[i] = (float)i;
  double least = 1e9;
  int wrong = 0, any = 0;
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    double arrival = now();
    MPI_Scatter(all, block, MPI_FLOAT, mine, block, MPI_FLOAT, 0, MPI_COMM_WORLD);
    double exit = now(), first = 0, last = 0;
    wrong |= mine[0] != (float)(block * rank) || mine[block - 1] != (float)(block * (rank + 1) - 1);
    MPI_Reduce(&arrival, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&exit, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (last - first < least) least = last - first;
  }
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  free(mine);
  free(all);
  return any ? -1 : least;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int seen_names = names(rank, size), seen_groups = groups();
  const double seconds = scatter(rank, size, argc > 1 ? atoi(argv[1]) : 10);
  if (rank == 0)
    printf("{\"ranks\": %d, \"names\": %d, \"groups\": %d, \"bytes\": %zu, \"seconds\": %.9f}\n",
           size, seen_names, seen_groups, (size_t)(FLOATS / size) * (size_t)size * sizeof(float),
           seconds);
  MPI_Finalize();
  return 0;
}
