/* Calls that Tutti only counts or does not see, and with an argument one that it handles. Calls
 * functions of MPI 4 that some library of the process has, as a binding does that was built for a
 * newer MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define MPI4(X)                                                                                  \
  X(Iallreduce_c, (const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*)) \
  X(Bcast_init, (void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))               \
  X(Bcast_init_c, (void*, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))       \
  X(Neighbor_alltoall_c,                                                                         \
    (const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm))

#define DECLARE(name, parameters) static int(*name) parameters;
MPI4(DECLARE)

static void run(MPI_Request* request) {
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
}

static void call_mpi4(void) {
  int one = 1;
  int sum = 0;
  int p = 0;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  if (Iallreduce_c != NULL) {
    Iallreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum != p) puts("wrong sum");
  }
  if (Bcast_init != NULL) {
    Bcast_init(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    run(&request);
  }
  if (Bcast_init_c != NULL) {
    Bcast_init_c(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    run(&request);
  }
  if (Neighbor_alltoall_c != NULL) {
    MPI_Comm alone;
    const int periodic = 1;
    const int places = 1;
    int to[2] = {1, 2};
    int from[2] = {0, 0};
    MPI_Cart_create(MPI_COMM_SELF, 1, &places, &periodic, 0, &alone);
    Neighbor_alltoall_c(to, 1, MPI_INT, from, 1, MPI_INT, alone);
    if (from[0] + from[1] != 3) puts("wrong neighbours");
    MPI_Comm_free(&alone);
  }
}

int main(int argc, char** argv) {
  int one = 1;
  int sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
#define FIND(name, parameters) *(void**)&(name) = dlsym(RTLD_DEFAULT, "MPI_" #name);
  MPI4(FIND)
  for (int i = 0; i < 3; ++i) {
    MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Iscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  call_mpi4();
  if (argc > 1) MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
