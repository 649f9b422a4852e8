/* A minimal profiling tool: counts calls of MPI_Gatherv and MPI_Gatherv_c, and prints the numbers
 * in MPI_Finalize, and where there are any also at the end of the process. Passes on MPI_Ibcast. */
#include <mpi.h>
#include <stdio.h>

static int calls = 0;
static int large_calls = 0;

int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
  ++calls;
  return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                      comm);
}

#if MPI_VERSION >= 4
int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  int root, MPI_Comm comm) {
  ++large_calls;
  return PMPI_Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                        comm);
}
#endif

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

__attribute__((destructor)) static void tell(void) {
  if (calls > 0) printf("tool counted %d calls\n", calls);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("tool saw %d calls, %d large\n", calls, large_calls);
  return PMPI_Finalize();
}
