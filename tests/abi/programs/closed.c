/* Loads the C API as a plugin does, and closes it before the communicator and MPI end. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int (*barrier)(MPI_Comm) = NULL;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return puts(dlerror()), EXIT_FAILURE;
  *(void**)&barrier = dlsym(library, "TUTTI_Barrier");
  const int error = barrier(comm);
  dlclose(library);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  puts(error == MPI_SUCCESS ? "correct" : "wrong");
  return error == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
