/* Calls with known numbers, for the report: calls MODE [N]. Knows nothing of Tutti.
 *
 * N times an irregular gather, of which rank i brings 1000 i bytes and the last rank comes 20 ms
 * late, then one scatter. MODE is the communicator, or how the program ends. Only `persistent`
 * knows of Tutti: N times the same persistent gather, the last rank 20 ms late. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tutti/tutti.h"

#pragma weak TUTTI_Gather_init
#pragma weak TUTTI_Start
#pragma weak TUTTI_Wait
#pragma weak TUTTI_Request_free

static void sleep_20_ms(void) {
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
}

/* The root calls from another place than the other ranks. */
__attribute__((noinline)) static void write_snapshot(MPI_Comm comm) {
  int rank, p, total = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  int* counts = malloc((size_t)p * sizeof *counts);
  int* places = malloc((size_t)p * sizeof *places);
  for (int i = 0; i < p; ++i) {
    counts[i] = 1000 * i;
    places[i] = total;
    total += counts[i];
  }
  char* own = calloc((size_t)counts[rank] + 1, 1);
  char* all = calloc((size_t)total + 1, 1);
  MPI_Barrier(comm);
  if (rank == p - 1) sleep_20_ms();
  if (rank == 0) {
    MPI_Gatherv(own, counts[rank], MPI_CHAR, all, counts, places, MPI_CHAR, 0, comm);
  } else {
    MPI_Gatherv(own, counts[rank], MPI_CHAR, NULL, NULL, NULL, MPI_CHAR, 0, comm);
  }
  free(all);
  free(own);
  free(places);
  free(counts);
}

static void read_parameters(MPI_Comm comm) {
  int p, mine;
  MPI_Comm_size(comm, &p);
  int* all = calloc((size_t)p, sizeof *all);
  MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, comm);
  free(all);
}

static void call(MPI_Comm comm, int times) {
  for (int i = 0; i < times; ++i) write_snapshot(comm);
  read_parameters(comm);
}

__attribute__((noinline)) static void persist(MPI_Comm comm, int times) {
  int rank, p;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  int* all = calloc((size_t)p, sizeof *all);
  TUTTI_Request request;
  TUTTI_Gather_init(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm, &request);
  for (int i = 0; i < times; ++i) {
    MPI_Barrier(comm);
    TUTTI_Start(&request);
    if (rank == p - 1) sleep_20_ms();
    TUTTI_Wait(&request);
  }
  TUTTI_Request_free(&request);
  free(all);
}

/* Reductions that `auto` may explore, of one size. */
__attribute__((noinline)) static void reduce_often(MPI_Comm comm, int times) {
  static int own[1024], all[1024];
  for (int i = 0; i < times; ++i) MPI_Allreduce(own, all, 1024, MPI_INT, MPI_MAX, comm);
}

/* Every rank has 100 bytes for each other one, and keeps 100,000. */
__attribute__((noinline)) static void keep_most(MPI_Comm comm, int times) {
  int rank, p, total = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  int* counts = malloc((size_t)p * sizeof *counts);
  int* places = malloc((size_t)p * sizeof *places);
  for (int i = 0; i < p; ++i) {
    counts[i] = i == rank ? 100000 : 100;
    places[i] = total;
    total += counts[i];
  }
  char* sent = calloc((size_t)total, 1);
  char* received = calloc((size_t)total, 1);
  for (int i = 0; i < times; ++i) {
    MPI_Alltoallv(sent, counts, places, MPI_CHAR, received, counts, places, MPI_CHAR, comm);
  }
  free(received);
  free(sent);
  free(places);
  free(counts);
}

static int run_session(int times) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "calls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  call(comm, times);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
#else
  (void)times;
  return 1;
#endif
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "world";
  const int times = argc > 2 ? atoi(argv[2]) : 5;
  if (strcmp(mode, "modes") == 0) {
    puts(MPI_VERSION >= 4 ? "world halves exit session" : "world halves exit");
    return 0;
  }
  if (strcmp(mode, "session") == 0) return run_session(times);
  MPI_Init(&argc, &argv);
  if (strcmp(mode, "halves") == 0) {
    int rank;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    call(half, times);
    MPI_Comm_free(&half);
  } else if (strcmp(mode, "persistent") == 0) {
    persist(MPI_COMM_WORLD, times);
  } else if (strcmp(mode, "often") == 0) {
    reduce_often(MPI_COMM_WORLD, 200 * times);
  } else if (strcmp(mode, "kept") == 0) {
    keep_most(MPI_COMM_WORLD, 100 * times);
  } else if (strcmp(mode, "freed") == 0) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    reduce_often(comm, 200 * times);
    MPI_Comm_free(&comm);
  } else {
    call(MPI_COMM_WORLD, times);
  }
  if (strcmp(mode, "exit") == 0) {
    /* The launcher may take the other ranks down as soon as one is gone. */
    MPI_Barrier(MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) sleep_20_ms();
    exit(0);
  }
  MPI_Finalize();
  return 0;
}
