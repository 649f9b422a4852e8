/* Gathers in MPI_Finalize, like the clean-up of some libraries; with an argument also before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void gather(void) {
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  int* all = calloc((size_t)p, sizeof *all);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < p && rank == 0; ++i) {
    if (all[i] != i) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  free(all);
}

static int clean_up(MPI_Comm comm, int keyval, void* attribute, void* state) {
  (void)comm, (void)keyval, (void)attribute, (void)state;
  int rank;
  for (int i = 0; i < 20; ++i) gather();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("correct\n");
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int level, keyval;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  for (int i = 0; i < 5 && argc > 1; ++i) gather();
  MPI_Finalize();
  return EXIT_SUCCESS;
}
