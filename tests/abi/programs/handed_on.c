/* Reductions with an operation of the program's own, which looks at the stack: after some calls
 * that the MPI is to run, Tutti's backend is not on it any more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { calls = 50 };

static int combinations, through_backend;

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
  void* frames[64];
  const int found = backtrace(frames, 64);
  through_backend = 0;
  for (int i = 0; i < found; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) != 0 && strstr(info.dli_fname, "libtutti-") != NULL) {
      through_backend = 1;
    }
  }
  ++combinations;
}

int main(int argc, char** argv) {
  int rank = 0, p = 0, sum = 0, backends = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int call = 0; call < calls; ++call) {
    int own = rank + call;
    MPI_Reduce(&own, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    backends += through_backend;
  }
  if (rank == 0) {
    printf("%s, %s, the backend %s\n",
           sum == p * (p - 1) / 2 + p * (calls - 1) ? "correct" : "wrong",
           combinations > 0 ? "combined" : "not combined",
           backends == 0     ? "never"
           : through_backend ? "always"
                             : "first");
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
