/* Broadcasts whose exchange of arrivals ends between the begin and the end of an agreement in which
 * a comparison of its clocks is due. */
#include <mpi.h>
#include <stdio.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { calls = 40, last_with_arrivals = 9, due_after = 1100000 };

int main(int argc, char** argv) {
  int rank, wrong = 0, all = 0;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  TUTTI_Arrival_init(comm, 0.5);
  usleep(due_after);
  for (int call = 0; call < calls; ++call) {
    int value = rank == 0 ? call : -1;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    wrong += value != call;
    if (call == last_with_arrivals) TUTTI_Arrival_finalize(comm);
  }
  PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  MPI_Comm_free(&comm);
  if (rank == 0 && all == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
