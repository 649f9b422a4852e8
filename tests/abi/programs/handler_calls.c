/* Calls and persistent requests fail on all ranks, and their error handler calls collectives, the
 * failed one too, while rank 0 inspects calls that others hand on. The argument "forgives": the
 * handler makes the error a success; "changes": it sets the algorithm of bcast as well. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

#pragma weak TUTTI_Algorithm_set
#pragma weak TUTTI_Gather_init
#pragma weak TUTTI_Start
#pragma weak TUTTI_Wait
#pragma weak TUTTI_Request_free

enum { calls = 600 };

static MPI_Comm comm;
static int handled, forgives, changes;

static void set_bcast(const char* algorithm) {
  int length = 0;
  TUTTI_Algorithm_set("bcast", algorithm, NULL, &length);
}

static void handle(MPI_Comm* failed, int* error, ...) {
  (void)failed;
  if (forgives) *error = MPI_SUCCESS;
  if (changes) set_bcast("binomial");
  int own = 1, all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
  if (changes) {
    handled += all;
    return;
  }
  int same = all; /* the collective that has failed, also with another count */
  MPI_Bcast(&same, 1, MPI_INT, 0, comm);
  int pair[2] = {same, 0};
  MPI_Bcast(pair, 2, MPI_INT, 0, comm);
  handled += pair[0];
}

/* Communicators are found anew on this rank alone. */
static void find_anew(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  MPI_Barrier(other);
  MPI_Comm_free(&other);
}

int main(int argc, char** argv) {
  int rank = 0, p = 0;
  forgives = argc > 1;
  changes = forgives && strcmp(argv[1], "changes") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int wrong = 0, errors = 0;
  for (int call = 0; call < calls; ++call) {
    int same = rank == 0 ? call : -1;
    MPI_Bcast(&same, 1, MPI_INT, 0, comm);
    wrong += same != call;
    if (changes && call % 7 == 1) set_bcast("native");
    if (call % 7 != 0) continue;
    if (rank == 0) find_anew();
    MPI_Bcast(&same, 1, MPI_INT, p, comm);
    ++errors;
    if (changes) continue;
    TUTTI_Request request;
    TUTTI_Gather_init(&same, 1, MPI_INT, NULL, 1, MPI_INT, p, comm, &request);
    TUTTI_Start(&request);
    if (rank == 0) find_anew();
    TUTTI_Wait(&request);
    TUTTI_Request_free(&request);
    ++errors;
  }
  const int is_right = wrong == 0 && handled == p * errors;
  if (rank == 0) puts(is_right ? "correct" : "wrong");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return !is_right;
}
