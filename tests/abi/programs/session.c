/* Gathers on a communicator from a session; MPI_Init is never called. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Wrong elements at this rank, and by the sum of all ranks. */
static int wrong, total;

static void gather(MPI_Comm comm, int rank) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  int counts[64];
  int displs[64];
  int all[64];
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    displs[r] = size - 1 - r;
  }
  for (int root = 0; root < size; ++root) {
    MPI_Gatherv(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, root, comm);
    for (int r = 0; r < size && rank == root; ++r) wrong += all[size - 1 - r] != r;
  }
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, comm);
}

int main(int argc, char** argv) {
  /* Not every MPI can begin again after its last session has ended. */
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  int rank = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "gather", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    /* It may get the number that Tutti's keyval had in the round before. */
    int keyval = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &wrong);
    gather(comm, rank);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  if (rank == 0) printf("%s\n", total == 0 ? "correct" : "wrong");
  return wrong == 0 && total == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
