/* Calls fail on all ranks, and their error handler calls collectives, the failed one too, while
 * rank 0 inspects calls that others hand on. */
#include <mpi.h>
#include <stdio.h>

enum { calls = 600 };

static MPI_Comm comm;
static int handled;

static void handle(MPI_Comm* failed, int* error, ...) {
  (void)failed;
  (void)error;
  int own = 1, all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
  int told = all; /* the collective that has failed */
  MPI_Bcast(&told, 1, MPI_INT, 0, comm);
  handled += told;
}

int main(int argc, char** argv) {
  int rank = 0, p = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int wrong = 0, errors = 0;
  for (int call = 0; call < calls; ++call) {
    int told = rank == 0 ? call : -1;
    MPI_Bcast(&told, 1, MPI_INT, 0, comm);
    wrong += told != call;
    if (call % 7 != 0) continue;
    if (rank == 0) { /* communicators are found anew on this rank alone */
      MPI_Comm other;
      MPI_Comm_dup(MPI_COMM_SELF, &other);
      MPI_Barrier(other);
      MPI_Comm_free(&other);
    }
    MPI_Bcast(&told, 1, MPI_INT, p, comm);
    ++errors;
  }
  if (rank == 0) puts(wrong == 0 && handled == p * errors ? "correct" : "wrong");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
