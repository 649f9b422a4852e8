/* Rank 0 uses a session of its own before the world begins, as a library might. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session session = MPI_SESSION_NULL;

static void use_session(void) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "own", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const char* number = getenv("PMI_RANK");
  if (number != NULL && strcmp(number, "0") == 0) use_session();
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", sum == size ? "correct" : "wrong");
  MPI_Finalize();
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  return sum == size ? EXIT_SUCCESS : EXIT_FAILURE;
}
