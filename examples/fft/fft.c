/* A parallel FFT whose results are gathered in every iteration.
 *
 * The master runs the first radix-2 stages (decimation in frequency), which leave independent
 * transforms. It sends some to each rank, every rank transforms its part with OpenMP and FFTW, and
 * the master gathers the spectrum. This is the application of Proficz 2020, section 6, for any
 * number of ranks: if it is not a power of 2, ranks have uneven parts, and MPI_Gatherv gathers
 * them.
 *
 *     mpirun -n 8 fft [-n complex samples, a power of two] [-i iterations] [-c iterations between
 *                     checks of the result] [-r seed]
 *
 * The program does not need Tutti. If Tutti is preloaded, the program gives a progress hint after
 * half of the computation, through weak symbols.
 */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef float complex Sample;

int TUTTI_Arrival_init(MPI_Comm comm, double fraction) __attribute__((weak));
int TUTTI_Arrival_edge(MPI_Comm comm) __attribute__((weak));
int TUTTI_Arrival_finalize(MPI_Comm comm) __attribute__((weak));

static const double hint_after = 0.5; /* of the computing */

typedef struct {
  long samples;
  int iterations;
  int check_every;
  uint64_t seed;
} Options;

/* The part of one rank, and its memory. */
typedef struct {
  int rank, p;
  int transforms;   /* after the master's stages */
  int first, count; /* the transforms of this rank */
  long length;      /* samples of one of them */
  int pieces;       /* transforms into which this rank's stages split each of them */
  Sample* work;
  Sample* result;
  fftwf_plan plan; /* of one piece */
} Part;

/* Seconds of each iteration, on this rank. */
typedef struct {
  double* arrival; /* at the gather */
  double* exit;    /* from the gather */
} Times;

static Sample* samples(size_t count) {
  Sample* memory = fftwf_malloc((count > 0 ? count : 1) * sizeof(Sample));
  if (memory == NULL) {
    fprintf(stderr, "fft: out of memory for %zu samples\n", count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static int power_of_two_from(int least) {
  int power = 1;
  while (power < least) power *= 2;
  return power;
}

/* The bits of `index` below `count`, a power of 2, in reverse. */
static int reversed(int index, int count) {
  int result = 0;
  for (int bit = 1; bit < count; bit *= 2) result = 2 * result + ((index & bit) != 0);
  return result;
}

/* Splits a transform of `length` samples into `count` independent ones of equal length, one after
 * the other: transform b then yields the frequencies k * count + reversed(b). */
static void split(Sample* data, long length, int count) {
  for (long span = length; span > length / count; span /= 2) {
    const long half = span / 2;
#pragma omp parallel for schedule(static)
    for (long at = 0; at < length / 2; ++at) {
      const long k = at % half;
      Sample* upper = data + at / half * span + k;
      Sample* lower = upper + half;
      const Sample sum = *upper + *lower;
      const double angle = -2 * M_PI * (double)k / (double)span;
      *lower = (*upper - *lower) * (float complex)(cos(angle) + I * sin(angle));
      *upper = sum;
    }
  }
}

/* Brings the frequencies of split transforms into their natural order. */
static void interleave(const Sample* from, Sample* to, long length, int count) {
  const long each = length / count;
#pragma omp parallel for schedule(static)
  for (int index = 0; index < count; ++index) {
    const Sample* source = from + index * each;
    for (long k = 0; k < each; ++k) to[k * count + reversed(index, count)] = source[k];
  }
}

static int first_of(int rank, int p, int count) { return (int)((long)rank * count / p); }

static void prepare(Part* part, const Options* options) {
  MPI_Comm_rank(MPI_COMM_WORLD, &part->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &part->p);
  part->transforms = power_of_two_from(part->p);
  part->first = first_of(part->rank, part->p, part->transforms);
  part->count = first_of(part->rank + 1, part->p, part->transforms) - part->first;
  part->length = options->samples / part->transforms;
  part->pieces = power_of_two_from(2 * omp_get_max_threads());
  if (part->pieces > part->length) part->pieces = 1;
  const size_t mine = (size_t)part->count * (size_t)part->length;
  part->work = samples(mine);
  part->result = samples(mine);
  part->plan = fftwf_plan_dft_1d((int)(part->length / part->pieces), part->work, part->work,
                                 FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
}

static void release(Part* part) {
  fftwf_destroy_plan(part->plan);
  fftwf_free(part->work);
  fftwf_free(part->result);
}

static void transform_pieces(const Part* part, int begin, int end) {
  const long each = part->length / part->pieces;
#pragma omp parallel for schedule(dynamic)
  for (int piece = begin; piece < end; ++piece) {
    Sample* data = part->work + piece * each;
    fftwf_execute_dft(part->plan, data, data);
  }
}

/* Runs the master's stages, and distributes the transforms. */
static void distribute(const Part* part, const Sample* signal, Sample* scratch, long length) {
  const size_t mine = (size_t)part->count * (size_t)part->length;
  if (part->rank != 0) {
    MPI_Recv(part->work, (int)mine, MPI_C_FLOAT_COMPLEX, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  memcpy(scratch, signal, (size_t)length * sizeof(Sample));
  split(scratch, length, part->transforms);
  memcpy(part->work, scratch, mine * sizeof(Sample));
  MPI_Request* sends = malloc((size_t)part->p * sizeof *sends);
  for (int rank = 1; rank < part->p; ++rank) {
    const long begin = first_of(rank, part->p, part->transforms) * part->length;
    const long end = first_of(rank + 1, part->p, part->transforms) * part->length;
    MPI_Isend(scratch + begin, (int)(end - begin), MPI_C_FLOAT_COMPLEX, rank, 0, MPI_COMM_WORLD,
              &sends[rank - 1]);
  }
  for (int rank = 1; rank < part->p; ++rank) MPI_Wait(&sends[rank - 1], MPI_STATUS_IGNORE);
  free(sends);
}

/* Computes all transforms of this rank; gives the progress hint after half of them. */
static void compute(Part* part) {
  const int all = part->count * part->pieces;
  for (int i = 0; i < part->count; ++i) {
    split(part->work + i * part->length, part->length, part->pieces);
  }
  transform_pieces(part, 0, all / 2);
  if (TUTTI_Arrival_edge != NULL) TUTTI_Arrival_edge(MPI_COMM_WORLD);
  transform_pieces(part, all / 2, all);
  for (int i = 0; i < part->count; ++i) {
    interleave(part->work + i * part->length, part->result + i * part->length, part->length,
               part->pieces);
  }
}

static void gather(const Part* part, Sample* all) {
  const int mine = part->count * (int)part->length;
  if (part->transforms == part->p) {
    MPI_Gather(part->result, mine, MPI_C_FLOAT_COMPLEX, all, mine, MPI_C_FLOAT_COMPLEX, 0,
               MPI_COMM_WORLD);
    return;
  }
  int* counts = malloc((size_t)part->p * sizeof(int));
  int* displs = malloc((size_t)part->p * sizeof(int));
  for (int rank = 0; rank < part->p; ++rank) {
    displs[rank] = first_of(rank, part->p, part->transforms) * (int)part->length;
    counts[rank] = first_of(rank + 1, part->p, part->transforms) * (int)part->length - displs[rank];
  }
  MPI_Gatherv(part->result, mine, MPI_C_FLOAT_COMPLEX, all, counts, displs, MPI_C_FLOAT_COMPLEX, 0,
              MPI_COMM_WORLD);
  free(counts);
  free(displs);
}

/* Relative error, in the Euclidean norm, against one transform of the whole by FFTW. */
static double error_of(const Sample* spectrum, const Sample* signal, long length) {
  Sample* expected = samples((size_t)length);
  fftwf_plan plan = fftwf_plan_dft_1d((int)length, expected, expected, FFTW_FORWARD, FFTW_ESTIMATE);
  memcpy(expected, signal, (size_t)length * sizeof(Sample));
  fftwf_execute(plan);
  double difference = 0, norm = 0;
  for (long i = 0; i < length; ++i) {
    const double complex off = (double complex)spectrum[i] - expected[i];
    difference += creal(off) * creal(off) + cimag(off) * cimag(off);
    norm += crealf(expected[i]) * crealf(expected[i]) + cimagf(expected[i]) * cimagf(expected[i]);
  }
  fftwf_destroy_plan(plan);
  fftwf_free(expected);
  return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}

/* Means over the iterations of r = last exit - first arrival and of the mean elapsed time. The
 * clocks of the nodes must agree. */
static void print_times(const Times* times, int iterations, int rank, int p, double total) {
  double run = 0, elapsed = 0, spread = 0;
  for (int i = 0; i < iterations; ++i) {
    const double mine[2] = {-times->arrival[i], times->exit[i]};
    const double own = times->exit[i] - times->arrival[i];
    const double arrival = times->arrival[i];
    double extreme[2], sum = 0, latest = 0;
    MPI_Reduce(mine, extreme, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&arrival, &latest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    run += extreme[1] + extreme[0];
    spread += latest + extreme[0];
    elapsed += sum / p;
  }
  if (rank != 0) return;
  printf("total %.3f s, gather run %.3f ms, elapsed %.3f ms, spread %.3f ms (means of %d)\n", total,
         run / iterations * 1e3, elapsed / iterations * 1e3, spread / iterations * 1e3, iterations);
}

/* All ranks have the same arguments and refuse them together, so the launcher has no job to kill.
 */
__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char* format, ...) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    va_list values;
    va_start(values, format);
    fputs("fft: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
  }
  MPI_Finalize();
  exit(2);
}

static long number(const char* name, const char* text, long least) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (*end != '\0' || value < least)
    refuse("invalid %s %s: expected a number of at least %ld", name, text, least);
  return value;
}

static Options read_options(int argc, char** argv) {
  Options options = {131072, 100, 50, 1};
  for (int i = 1; i < argc; i += 2) {
    const char* name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(name, "-n") == 0) {
      options.samples = number(name, value, 1);
    } else if (strcmp(name, "-i") == 0) {
      options.iterations = (int)number(name, value, 1);
    } else if (strcmp(name, "-c") == 0) {
      options.check_every = (int)number(name, value, 1);
    } else if (strcmp(name, "-r") == 0) {
      options.seed = (uint64_t)number(name, value, 0);
    } else {
      refuse("unknown option %s; valid options: -n, -i, -c, -r", name);
    }
  }
  int p = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const long least = power_of_two_from(p);
  if ((options.samples & (options.samples - 1)) != 0 || options.samples < least ||
      options.samples > 1L << 30) {
    refuse("invalid -n %ld: expected a power of 2 from %ld to 2^30", options.samples, least);
  }
  return options;
}

static void make_signal(Sample* signal, long length, uint64_t seed) {
  uint64_t state = seed;
  for (long i = 0; i < length; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float real = (float)(state >> 40) * 0x1p-24f - 0.5f;
    state = state * 6364136223846793005u + 1442695040888963407u;
    signal[i] = real + I * ((float)(state >> 40) * 0x1p-24f - 0.5f);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const Options options = read_options(argc, argv);
  Part part;
  prepare(&part, &options);
  const size_t whole = part.rank == 0 ? (size_t)options.samples : 0;
  Sample* signal = samples(whole);
  Sample* scratch = samples(whole);
  Sample* spectrum = samples(whole);
  if (part.rank == 0) make_signal(signal, options.samples, options.seed);
  Times times = {malloc((size_t)options.iterations * sizeof(double)),
                 malloc((size_t)options.iterations * sizeof(double))};

  if (TUTTI_Arrival_init != NULL) TUTTI_Arrival_init(MPI_COMM_WORLD, hint_after);
  double worst = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double checking = 0;
  for (int i = 0; i < options.iterations; ++i) {
    distribute(&part, signal, scratch, options.samples);
    compute(&part);
    times.arrival[i] = MPI_Wtime();
    gather(&part, scratch);
    times.exit[i] = MPI_Wtime();
    if (part.rank != 0) continue;
    interleave(scratch, spectrum, options.samples, part.transforms);
    if ((i + 1) % options.check_every != 0 && i + 1 != options.iterations) continue;
    const double before = MPI_Wtime();
    worst = fmax(worst, error_of(spectrum, signal, options.samples));
    checking += MPI_Wtime() - before;
  }
  const double total = MPI_Wtime() - start - checking;
  if (TUTTI_Arrival_finalize != NULL) TUTTI_Arrival_finalize(MPI_COMM_WORLD);
  if (part.rank == 0) {
    printf("%ld samples on %d ranks, %d iterations: error %.1e, %s\n", options.samples, part.p,
           options.iterations, worst, worst < 1e-5 ? "right" : "WRONG");
  }
  print_times(&times, options.iterations, part.rank, part.p, total);
  free(times.arrival);
  free(times.exit);
  fftwf_free(signal);
  fftwf_free(scratch);
  fftwf_free(spectrum);
  release(&part);
  MPI_Finalize();
  return worst < 1e-5 ? 0 : 1;
}
