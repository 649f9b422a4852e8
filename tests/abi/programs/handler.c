/* A thread sets an error handler of MPI_COMM_WORLD while another one waits there in a collective
 * for rank 0: the handler stays. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { calls = 4 };

static void ignore(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
}

static void* set_handler(void* handler) {
  usleep(300000);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, *(MPI_Errhandler*)handler);
  return NULL;
}

static int has_handler(MPI_Errhandler handler) {
  MPI_Errhandler now;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  const int is_same = now == handler;
  MPI_Errhandler_free(&now);
  return is_same;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, wrong = 0, total = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler before, set;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_create_errhandler(ignore, &set);
  pthread_t thread;
  if (rank == 0) usleep(900000);
  if (rank != 0) pthread_create(&thread, NULL, set_handler, &set);
  for (int call = 0; call < calls; ++call) {
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank != 0) pthread_join(thread, NULL);
  wrong = !has_handler(rank == 0 ? before : set);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&set);
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
