/* Hierarchical calls on many communicators at a time: small ones, then large ones of all kinds on
 * one of them. Reports the memory with a name in /dev/shm.
 *
 *   named     prints "mappings M kept K pages P" after the small calls: how many of those still
 *             have their name, and the pages that this rank has allocated
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { communicators = 20, large = 1 << 18 };
static int rank, size, wrong;

static void check(int good) {
  if (!good) ++wrong;
}

/* Defined in no_proc.c. */
static long allocated(void) {
  const long* pages = dlsym(RTLD_DEFAULT, "allocated_pages");
  return pages == NULL ? -1 : *pages;
}

static void tell_memory(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  long mappings = 0, kept = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "/dev/shm/tutti-") == NULL) continue;
    ++mappings;
    kept += strstr(line, "(deleted)") == NULL;
  }
  fclose(maps);
  printf("mappings %ld kept %ld pages %ld\n", mappings, kept, allocated());
}

static int* numbers(int count, int value) {
  int* made = malloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; ++i) made[i] = value;
  return made;
}

static void call_all(MPI_Comm comm, int count) {
  int* one = numbers(count, rank);
  int* all = numbers(count * size, -1);
  int* sent = numbers(count * size, rank);
  int* counts = numbers(size, count);
  int* places = numbers(size, 0);
  for (int r = 0; r < size; ++r) places[r] = r * count;
  MPI_Allgather(one, count, MPI_INT, all, count, MPI_INT, comm);
  for (int i = 0; i < count * size; ++i) check(all[i] == i / count);
  memset(all, -1, (size_t)(count * size) * sizeof(int));
  MPI_Alltoallv(sent, counts, places, MPI_INT, all, counts, places, MPI_INT, comm);
  for (int i = 0; i < count * size; ++i) check(all[i] == i / count);
  memset(all, -1, (size_t)(count * size) * sizeof(int));
  MPI_Gatherv(one, count, MPI_INT, all, counts, places, MPI_INT, size - 1, comm);
  for (int i = 0; i < count * size && rank == size - 1; ++i) check(all[i] == i / count);
  MPI_Allreduce(one, all, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) check(all[i] == size * (size - 1) / 2);
  MPI_Bcast(sent, count * size, MPI_INT, 1, comm);
  for (int i = 0; i < count * size; ++i) check(sent[i] == 1);
  free(one);
  free(all);
  free(sent);
  free(counts);
  free(places);
}

int main(int argc, char** argv) {
  MPI_Comm comms[communicators];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    call_all(comms[i], 1);
  }
  if (rank == 0) tell_memory();
  for (int count = 1; count <= large; count *= 8) call_all(comms[0], count);
  call_all(comms[0], 3);
  for (int i = 0; i < communicators; ++i) MPI_Comm_free(&comms[i]);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return wrong != 0 || all != 0;
}
