/* The mean time of short calls of one collective, each of 8 bytes and followed by a barrier that is
 * not timed, over all ranks: what the OSU micro-benchmarks time, with a finer resolution.
 *
 *   mpicc -O2 bench/programs/short_calls.c -o short_calls
 *   mpirun -n 2 ./short_calls allreduce [CALLS] [BYTES OF A BCAST BEFORE ALL CALLS; 0: none]
 * [pairs] tutti run -- mpirun -n 2 ./short_calls allreduce
 *
 * With `pairs` each rank first sends a message to every other one, so that the MPI has connections
 * between all of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD

enum { warm_up = 1000, max_ranks = 64 };

static const char* const names[] = {"bcast",   "reduce",    "allreduce", "gather",    "scatter",
                                    "barrier", "allgather", "alltoall",  "allgatherv"};
enum { bcast, reduce, allreduce, gather, scatter, barrier, allgather, alltoall, allgatherv, all };

static int from[2 * max_ranks];
static int to[2 * max_ranks];
static int counts[max_ranks];
static int places[max_ranks];

static void call(int collective) {
  switch (collective) {
    case bcast:
      MPI_Bcast(to, 2, MPI_INT, 0, WORLD);
      break;
    case reduce:
      MPI_Reduce(from, to, 2, MPI_FLOAT, MPI_SUM, 0, WORLD);
      break;
    case allreduce:
      MPI_Allreduce(from, to, 2, MPI_FLOAT, MPI_SUM, WORLD);
      break;
    case gather:
      MPI_Gather(from, 2, MPI_INT, to, 2, MPI_INT, 0, WORLD);
      break;
    case scatter:
      MPI_Scatter(from, 2, MPI_INT, to, 2, MPI_INT, 0, WORLD);
      break;
    case barrier:
      MPI_Barrier(WORLD);
      break;
    case allgather:
      MPI_Allgather(from, 2, MPI_INT, to, 2, MPI_INT, WORLD);
      break;
    case alltoall:
      MPI_Alltoall(from, 2, MPI_INT, to, 2, MPI_INT, WORLD);
      break;
    default:
      MPI_Allgatherv(from, 2, MPI_INT, to, counts, places, MPI_INT, WORLD);
  }
}

static void connect_pairs(int rank, int p) {
  for (int source = 0; source < p; ++source) {
    for (int target = 0; target < p; ++target) {
      if (source == target) continue;
      if (rank == source) MPI_Send(from, 1, MPI_INT, target, 0, WORLD);
      if (rank == target) MPI_Recv(to, 1, MPI_INT, source, 0, WORLD, MPI_STATUS_IGNORE);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &p);
  int collective = 0;
  while (collective < all && (argc < 2 || strcmp(argv[1], names[collective]) != 0)) ++collective;
  const int calls = argc > 2 ? atoi(argv[2]) : 200000;
  const int before = argc > 3 ? atoi(argv[3]) : 0;
  const int pairs = argc > 4 && strcmp(argv[4], "pairs") == 0;
  if (collective == all || calls < 1 || p > max_ranks || before < 0 || (argc > 4 && !pairs)) {
    if (rank == 0) {
      fprintf(stderr, "expected COLLECTIVE [CALLS] [BYTES] [pairs], at most 64 ranks\n");
    }
    MPI_Finalize();
    return 1;
  }
  for (int i = 0; i < p; ++i) {
    counts[i] = 2;
    places[i] = 2 * i;
  }
  if (before > 0) {
    char* const data = calloc((size_t)before, 1);
    if (data == NULL) MPI_Abort(WORLD, 1);
    MPI_Bcast(data, before, MPI_CHAR, 0, WORLD);
    free(data);
  }
  if (pairs) connect_pairs(rank, p);
  double time = 0;
  for (int i = -warm_up; i < calls; ++i) {
    const double began = MPI_Wtime();
    call(collective);
    const double took = MPI_Wtime() - began;
    if (i >= 0) time += took;
    MPI_Barrier(WORLD);
  }
  double sum = 0;
  MPI_Reduce(&time, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
  const double mean = sum / p;
  if (rank == 0) {
    printf("%s %.1f ns, total %.3f s\n", names[collective], mean / calls * 1e9, mean);
  }
  MPI_Finalize();
  return 0;
}
