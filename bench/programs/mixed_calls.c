/* Calls that mix collectives and sizes, for comparing total times: an MPI program that knows
 * nothing of Tutti.
 *
 *     mpirun -n 8 mixed_calls [calls] [seed]
 *
 * Each call is drawn from 10 collectives and 4 sizes, alike on all ranks. Between calls ranks
 * compute for a short random time. Rank 0 prints the seconds in collectives of the mean rank, the
 * seconds in all, and a digest of all data received, which depends on the arguments and the number
 * of ranks only.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { collectives = 10, sizes = 4, max_ints = 1 << 16 };

static int p, rank;
static int *sent, *received, *counts, *offsets;

static uint64_t next(uint64_t* state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Zeros, so that what ranks send depends on nothing else. */
static void* allocate(size_t bytes) {
  void* memory = calloc(bytes > 0 ? bytes : 1, 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* Ranks of an irregular call have unequal blocks, whose sum is that of a regular one. */
static int irregular(int ints) {
  int all = 0;
  for (int i = 0; i < p; ++i) {
    counts[i] = 2 * ints * i / p;
    offsets[i] = all;
    all += counts[i];
  }
  return all;
}

/* Runs one call; returns how many ints this rank received. */
static int call(int kind, int ints, int root) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_INT;
  switch (kind) {
    case 0:
      MPI_Bcast(received, ints, type, root, world);
      return ints;
    case 1:
      MPI_Allreduce(sent, received, ints, type, MPI_SUM, world);
      return ints;
    case 2:
      MPI_Reduce(sent, received, ints, type, MPI_MAX, root, world);
      return rank == root ? ints : 0;
    case 3:
      MPI_Gather(sent, ints / 8, type, received, ints / 8, type, root, world);
      return rank == root ? p * (ints / 8) : 0;
    case 4:
      MPI_Scatter(sent, ints / 8, type, received, ints / 8, type, root, world);
      return ints / 8;
    case 5: {
      const int all = irregular(ints / 8);
      MPI_Gatherv(sent, counts[rank], type, received, counts, offsets, type, root, world);
      return rank == root ? all : 0;
    }
    case 6:
      MPI_Allgather(sent, ints / 8, type, received, ints / 8, type, world);
      return p * (ints / 8);
    case 7: {
      const int all = irregular(ints / 8);
      MPI_Allgatherv(sent, counts[rank], type, received, counts, offsets, type, world);
      return all;
    }
    case 8:
      MPI_Alltoall(sent, ints / 16, type, received, ints / 16, type, world);
      return p * (ints / 16);
    default:
      MPI_Reduce_scatter_block(sent, received, ints / 16, type, MPI_SUM, world);
      return ints / 16;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
  uint64_t common = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t own = common + (uint64_t)rank + 1;
  const size_t bytes = (size_t)max_ints * (size_t)(p + 1) * sizeof(int);
  sent = allocate(bytes);
  received = allocate(bytes);
  counts = allocate((size_t)p * sizeof(int));
  offsets = allocate((size_t)p * sizeof(int));
  const int lengths[sizes] = {16, 1024, 16384, max_ints};

  uint64_t digest = 0;
  double inside = 0;
  const double began = MPI_Wtime();
  for (long i = 0; i < calls; ++i) {
    const uint64_t drawn = next(&common);
    const int kind = (int)(drawn % collectives);
    const int ints = lengths[(drawn >> 8) % sizes];
    const int root = (int)((drawn >> 16) % (uint64_t)p);
    for (int k = 0; k < ints * (p + 1); k += 64) sent[k] = (int)(own >> 40) + k;
    if (kind == 0 && rank == root) {
      for (int k = 0; k < ints; ++k) received[k] = sent[k];
    }
    const double compute = (double)(next(&own) % 1000) * 1e-6;
    const double until = MPI_Wtime() + compute;
    while (MPI_Wtime() < until) {
    }
    const double start = MPI_Wtime();
    const int got = call(kind, ints, root);
    inside += MPI_Wtime() - start;
    for (int k = 0; k < got; k += 16) digest = digest * 31 + (uint64_t)(unsigned)received[k];
  }
  const double total = MPI_Wtime() - began;

  uint64_t digests = 0;
  double insides = 0;
  MPI_Reduce(&digest, &digests, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&inside, &insides, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("collectives %.6f s, total %.6f s, digest %016llx\n", insides / p, total,
           (unsigned long long)digests);
  }
  free(sent);
  free(received);
  free(counts);
  free(offsets);
  MPI_Finalize();
  return 0;
}
