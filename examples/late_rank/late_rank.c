/* Shows the cost of a rank that is always late in a gather.
 *
 * In every step all ranks compute, the middle one longer than the others, and rank 0 gathers their
 * blocks. Ranks sleep instead of computing, so that processors are free for communication. Rank 0
 * checks every block. It prints the median time of a step, and of the part that remains without the
 * late rank's computation.
 *
 *     mpirun -n 8 late_rank [-k KiB of a rank] [-s steps] [-c ms of computing] [-l ms of the late]
 */
#define _POSIX_C_SOURCE 200809L /* getopt, nanosleep */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  int kibibytes;
  int steps;
  int computing; /* ms */
  int late;      /* ms beyond that */
} Options;

static void stop(const char* why) {
  fprintf(stderr, "late_rank: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int read_number(const char* text, int least) {
  char* end = NULL;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < least || number > 1 << 20) {
    fprintf(stderr, "late_rank: invalid %s: expected a number from %d to %d\n", text, least,
            1 << 20);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return (int)number;
}

static Options read_options(int count, char** words) {
  Options options = {.kibibytes = 256, .steps = 120, .computing = 100, .late = 50};
  int option;
  while ((option = getopt(count, words, "k:s:c:l:")) != -1) {
    switch (option) {
      case 'k':
        options.kibibytes = read_number(optarg, 1);
        break;
      case 's':
        options.steps = read_number(optarg, 1);
        break;
      case 'c':
        options.computing = read_number(optarg, 0);
        break;
      case 'l':
        options.late = read_number(optarg, 0);
        break;
      default:
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return options;
}

static void compute(int ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* Every element depends on rank, step and index. */
static int element(int rank, int step, int place) {
  return (int)(((unsigned)rank * 1000003u + (unsigned)step * 101u + (unsigned)place) & 0x7fffffffu);
}

static void check(const int* all, int length, int p, int step) {
  for (int rank = 0; rank < p; ++rank) {
    for (int place = 0; place < length; ++place) {
      if (all[(size_t)rank * (size_t)length + (size_t)place] != element(rank, step, place)) {
        stop("wrong data at rank 0");
      }
    }
  }
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const Options options = read_options(count, words);
  const int length = options.kibibytes * (int)(1024 / sizeof(int));
  int* own = malloc((size_t)length * sizeof(int));
  int* all = rank == 0 ? malloc((size_t)p * (size_t)length * sizeof(int)) : NULL;
  double* seconds = malloc((size_t)options.steps * sizeof(double));
  if (own == NULL || seconds == NULL || (rank == 0 && all == NULL)) stop("out of memory");
  const int own_time = options.computing + (rank == p / 2 ? options.late : 0);
  for (int step = 0; step < options.steps; ++step) {
    for (int place = 0; place < length; ++place) own[place] = element(rank, step, place);
    MPI_Barrier(MPI_COMM_WORLD); /* common start of the measurement */
    const double start = MPI_Wtime();
    compute(own_time);
    MPI_Gather(own, length, MPI_INT, all, length, MPI_INT, 0, MPI_COMM_WORLD);
    seconds[step] = MPI_Wtime() - start;
    if (rank == 0) check(all, length, p, step);
  }
  if (rank == 0) {
    qsort(seconds, (size_t)options.steps, sizeof(double), ascending);
    const double median = seconds[options.steps / 2];
    printf("a step takes %.1f ms, %.1f ms of it after the late rank's computation\n", median * 1e3,
           median * 1e3 - (options.computing + options.late));
  }
  free(seconds);
  free(all);
  free(own);
  MPI_Finalize();
  return 0;
}
