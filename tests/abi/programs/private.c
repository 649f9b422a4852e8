/* Loads the C API's library, its argument, privately; so its calls of MPI_Finalize go to the MPI.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  int (*init)(MPI_Comm, double) = NULL;
  int (*edge)(MPI_Comm) = NULL;
  *(void**)&init = dlsym(library, "TUTTI_Arrival_init");
  *(void**)&edge = dlsym(library, "TUTTI_Arrival_edge");
  int error = init(MPI_COMM_WORLD, 0.5);
  for (int i = 0; i < 10 && error == MPI_SUCCESS; ++i) error = edge(MPI_COMM_WORLD);
  if (error == MPI_SUCCESS) printf("correct\n");
  MPI_Finalize();
  return error == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
