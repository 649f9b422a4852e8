/* Settings change between broadcasts: settings_change FIRST THEN, "auto" among them. Rank 0 calls
 * with a type of its own, and frees communicators that other ranks do not have. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

static int p, rank, wrong = 0;
static MPI_Comm comm;

static void broadcast(int calls, MPI_Datatype type, int frees) {
  for (int call = 0; call < calls; ++call) {
    const int root = call % p;
    int value = rank == root ? call : -1;
    MPI_Bcast(&value, 1, type, root, comm);
    wrong += value != call;
    if (frees && rank == 0) {
      MPI_Comm other;
      MPI_Comm_dup(MPI_COMM_SELF, &other);
      MPI_Barrier(other);
      MPI_Comm_free(&other);
    }
  }
}

static void set(const char* specification) {
  wrong += TUTTI_Algorithm_set("bcast", specification, NULL, NULL) != MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &rank);
  MPI_Datatype own;
  MPI_Type_contiguous(1, MPI_INT, &own);
  MPI_Type_commit(&own);
  MPI_Datatype type = rank == 0 ? own : MPI_INT;
  set(argv[1]);
  broadcast(3, type, 0);
  set(argv[2]);
  broadcast(20, type, 1);
  broadcast(20, type, 0);
  set(argv[1]);
  int has_explored = 0;
  for (int round = 0; round < 200; ++round) {
    char text[256];
    int length = sizeof text;
    broadcast(1, type, 0);
    TUTTI_Algorithm_last(comm, "bcast", text, &length);
    has_explored = has_explored || strstr(text, "exploring") != NULL;
  }
  MPI_Type_free(&own);
  MPI_Comm_free(&comm);
  int sum = 0;
  PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(sum != 0 ? "wrong" : has_explored ? "correct" : "never explored");
  MPI_Finalize();
  return 0;
}
