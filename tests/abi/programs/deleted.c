/* Calls collectives from functions that delete attributes, in MPI_Comm_free and in MPI_Finalize,
 * where libraries clean up; checks its own data. With an argument also from the attributes of
 * MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LINKED
#include <tutti/tutti.h>
#define MPI_Allreduce TUTTI_Allreduce
#define MPI_Barrier TUTTI_Barrier
#define MPI_Bcast TUTTI_Bcast
#define MPI_Gather TUTTI_Gather
#endif

enum { attributes = 3, most = 64, rounds = 12 };
static int rank, size, wrong, cleaned, expected, made;
static int keyvals[attributes];
static MPI_Comm others[most];

static void check(MPI_Comm comm) {
  int one = 1, sum = 0, value = rank == 0 ? 7 : -1, all[most];
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  MPI_Barrier(comm);
  if (sum != size || value != 7) ++wrong;
  for (int r = 0; r < size && rank == 0; ++r) wrong += all[r] != r;
}

/* The attribute is the communicator of the collectives. MPICH stores the attributes of another
 * communicator at the address of deleted ones of this communicator. */
static int clean_up(MPI_Comm comm, int keyval, void* attribute, void* state) {
  (void)comm, (void)keyval, (void)state;
  check(*(MPI_Comm*)attribute);
  if (++cleaned % 5 == 0 && made < most) {
    MPI_Comm_dup(MPI_COMM_WORLD, &others[made]);
    check(others[made++]);
  }
  return MPI_SUCCESS;
}

static void set_attributes(MPI_Comm comm, MPI_Comm* used) {
  for (int i = 0; i < attributes; ++i) MPI_Comm_set_attr(comm, keyvals[i], used);
  expected += attributes;
}

/* The first collective comes before the attributes are set, after it, or when they are deleted. */
static void free_one(int when) {
  MPI_Comm comm, same;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  same = comm;
  if (when == 0) check(comm);
  set_attributes(comm, &same);
  if (when == 1) check(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  static MPI_Comm world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  world = MPI_COMM_WORLD;
  for (int i = 0; i < attributes; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &keyvals[i], NULL);
  }
  for (int round = 0; round < rounds; ++round) {
    for (int when = 0; when < 3; ++when) free_one(when);
  }
  for (; made > 0; --made) MPI_Comm_free(&others[made - 1]);
  made = most;
  for (int round = 0; round < rounds; ++round) check(world);
  if (argc > 1) set_attributes(MPI_COMM_WORLD, &world);
  set_attributes(MPI_COMM_SELF, &world);
  MPI_Finalize();
  if (wrong != 0 || cleaned != expected) {
    printf("rank %d: %d wrong, %d of %d cleaned\n", rank, wrong, cleaned, expected);
    return EXIT_FAILURE;
  }
  if (rank == 0) puts("correct");
  return EXIT_SUCCESS;
}
