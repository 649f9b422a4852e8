/* Times gathervs of 8 bytes with cold caches: before each one every rank writes more memory than
 * the caches hold. A rank that only sends waits for nobody, so its time is that of the call itself.
 *
 *   mpicc -O2 bench/programs/cold_calls.c -o cold_calls
 *   mpirun -n 2 ./cold_calls [CALLS] [CALLS BEFORE, WITH WARM CACHES] [BYTES TO WRITE]
 *   tutti run -- mpirun -n 2 ./cold_calls
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void* one, const void* two) {
  const double a = *(const double*)one;
  const double b = *(const double*)two;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const int calls = argc > 1 ? atoi(argv[1]) : 400;
  const int before = argc > 2 ? atoi(argv[2]) : 600;
  const size_t bytes = argc > 3 ? (size_t)atol(argv[3]) : (size_t)96 << 20;
  const size_t ranks = (size_t)p;
  volatile char* const memory = calloc(bytes + 1, 1);
  double* const times = calloc((size_t)calls + 1, sizeof *times);
  int* const counts = calloc(ranks, sizeof *counts);
  int* const places = calloc(ranks, sizeof *places);
  int* const all = calloc(2 * ranks, sizeof *all);
  const int own[2] = {rank, rank};
  if (memory == NULL || times == NULL || counts == NULL || places == NULL || all == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < p; ++i) {
    counts[i] = 2;
    places[i] = 2 * i;
  }
  for (int call = -before; call < calls; ++call) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t at = 0; call >= 0 && at < bytes; at += 64) ++memory[at];
    double began = MPI_Wtime();
    began = MPI_Wtime(); /* the clock itself is warm */
    MPI_Gatherv(own, 2, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    if (call >= 0) times[call] = MPI_Wtime() - began;
  }
  qsort(times, (size_t)calls, sizeof *times, compare);
  if (rank == p - 1) printf("rank %d: median %.2f us\n", rank, times[calls / 2] * 1e6);
  free((void*)memory);
  free(times);
  free(counts);
  free(places);
  free(all);
  MPI_Finalize();
  return 0;
}
