/* Tracers that drift in the wind, as in models of smoke, dust and ocean currents.
 *
 * In each step rank 0 computes the wind over a periodic square, where a model would read it from a
 * file, and broadcasts it (576 KiB). Every rank moves its share of the tracers. Every few steps the
 * ranks sum the numbers of tracers in each cell, and rank 0 appends this map to a file. The file
 * depends on the options, not on the number of ranks.
 *
 *     mpirun -n 8 tracers [-n tracers] [-s steps] [-e steps between maps] [-o file]
 */
#define _POSIX_C_SOURCE 200809L /* getopt */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { points = 192, cells = 64, whirls = 5 };

/* Speed in grid points per step, at each point of a periodic square. */
typedef struct {
  double east[points][points];
  double north[points][points];
} Wind;

typedef struct {
  double x;
  double y;
} Tracer;

typedef struct {
  int tracers;
  int steps;
  int every;
  const char* output;
} Options;

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "tracers: out of memory for %zu items of %zu bytes\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static int read_number(const char* text) {
  char* end = NULL;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < 1 || number > 100000000) {
    fprintf(stderr, "tracers: invalid %s: expected a number from 1 to 100000000\n", text);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return (int)number;
}

static Options read_options(int count, char** words) {
  Options options = {.tracers = 50000, .steps = 1000, .every = 10, .output = "tracers.bin"};
  int option;
  while ((option = getopt(count, words, "n:s:e:o:")) != -1) {
    switch (option) {
      case 'n':
        options.tracers = read_number(optarg);
        break;
      case 's':
        options.steps = read_number(optarg);
        break;
      case 'e':
        options.every = read_number(optarg);
        break;
      case 'o':
        options.output = optarg;
        break;
      default:
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return options;
}

/* Travelling whirls: the wind is the curl of a sum of products of sines, so it has no sources. */
static void compute_wind(Wind* wind, int step) {
  const double turn = 2 * acos(-1.0);
  memset(wind, 0, sizeof *wind);
  for (int whirl = 1; whirl <= whirls; ++whirl) {
    double sine[2][points], cosine[2][points];
    for (int i = 0; i < points; ++i) {
      const double along = turn * whirl * i / points, phase = 0.01 * step * whirl;
      sine[0][i] = sin(along + phase);
      cosine[0][i] = cos(along + phase);
      sine[1][i] = sin(along - 0.7 * phase);
      cosine[1][i] = cos(along - 0.7 * phase);
    }
    for (int j = 0; j < points; ++j) {
      for (int i = 0; i < points; ++i) {
        wind->east[j][i] += sine[0][i] * cosine[1][j] / whirl;
        wind->north[j][i] -= cosine[0][i] * sine[1][j] / whirl;
      }
    }
  }
}

/* The field between its points: bilinear, periodic. */
static double interpolated(const double field[points][points], Tracer at) {
  const int i = (int)at.x % points, j = (int)at.y % points;
  const int right = (i + 1) % points, above = (j + 1) % points;
  const double u = at.x - floor(at.x), v = at.y - floor(at.y);
  return (1 - v) * ((1 - u) * field[j][i] + u * field[j][right]) +
         v * ((1 - u) * field[above][i] + u * field[above][right]);
}

static double wrapped(double x) {
  const double inside = x - points * floor(x / points);
  return inside < points ? inside : 0;
}

/* Moves a tracer by half a step, and by a whole one with the wind that it finds there. */
static Tracer moved(Tracer from, const Wind* wind) {
  const Tracer half = {wrapped(from.x + 0.5 * interpolated(wind->east, from)),
                       wrapped(from.y + 0.5 * interpolated(wind->north, from))};
  return (Tracer){wrapped(from.x + interpolated(wind->east, half)),
                  wrapped(from.y + interpolated(wind->north, half))};
}

/* The tracers of a rank: every p-th of all, which start in a narrow cloud. */
static Tracer* create(int count, int rank, int p) {
  Tracer* tracers = allocate((size_t)count, sizeof(Tracer));
  for (int i = 0; i < count; ++i) {
    const double number = (double)rank + (double)i * p;
    tracers[i] = (Tracer){points * (0.45 + 0.1 * fmod(number * 0.6180339887498949, 1)),
                          points * (0.45 + 0.1 * fmod(number * 0.7548776662466927, 1))};
  }
  return tracers;
}

/* Sums all ranks' tracers in each cell; rank 0 appends the map to the file. */
static void save_map(const Tracer* tracers, int count, int rank, FILE* file) {
  static int own[cells][cells], all[cells][cells];
  memset(own, 0, sizeof own);
  for (int i = 0; i < count; ++i) {
    ++own[(int)tracers[i].y * cells / points][(int)tracers[i].x * cells / points];
  }
  MPI_Reduce(own, all, cells * cells, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && fwrite(all, sizeof all, 1, file) != 1) {
    perror("tracers: cannot write the map");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const Options options = read_options(argc, argv);
  const int count = options.tracers / p + (rank < options.tracers % p);
  Tracer* tracers = create(count, rank, p);
  Wind* wind = allocate(1, sizeof(Wind));
  FILE* file = NULL;
  if (rank == 0 && (file = fopen(options.output, "wb")) == NULL) {
    fprintf(stderr, "tracers: cannot write %s\n", options.output);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  const double start = MPI_Wtime();
  for (int step = 1; step <= options.steps; ++step) {
    if (rank == 0) compute_wind(wind, step);
    MPI_Bcast(wind, 2 * points * points, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) tracers[i] = moved(tracers[i], wind);
    if (step % options.every == 0) save_map(tracers, count, rank, file);
  }

  if (rank == 0) printf("%d steps, total %.2f s\n", options.steps, MPI_Wtime() - start);
  if (file != NULL && fclose(file) != 0) {
    perror("tracers: cannot write the map");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(wind);
  free(tracers);
  MPI_Finalize();
  return 0;
}
