/* Bcast, allgather(v), alltoall(v, w) and barrier by their MPI names, also on an
 * inter-communicator, where only the MPI can run them; checks its own data. */
#include <mpi.h>
#include <stdio.h>

enum { most = 64 };
static int rank, size, wrong;

static void check(int good) {
  if (!good) ++wrong;
}

static void exchange_all(void) {
  int all[most * 2], sent[most * 2], counts[most], places[most], bytes[most];
  MPI_Datatype types[most];
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    places[r] = size - 1 - r;
    bytes[r] = places[r] * (int)sizeof(int);
    types[r] = MPI_INT;
    sent[r] = rank * 100 + r;
  }
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(all[r] == r);
  MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(all[places[r]] == r);
  MPI_Alltoall(sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(all[r] == r * 100 + rank);
  MPI_Alltoallv(sent, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(all[places[r]] == r * 100 + places[rank]);
  MPI_Alltoallw(sent, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(all[places[r]] == r * 100 + places[rank]);
}

/* Even and odd ranks exchange data. */
static void between_two_groups(void) {
  if (size < 2) return;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  int remote = 0, all[most], sent[most], counts[most], places[most];
  MPI_Comm_remote_size(both, &remote);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, both);
  for (int r = 0; r < remote; ++r) check(all[r] == 2 * r + 1 - rank % 2);
  MPI_Barrier(both);
  for (int r = 0; r < remote; ++r) {
    counts[r] = 1;
    places[r] = remote - 1 - r;
    sent[places[r]] = 100 * rank + r;
  }
  MPI_Alltoallv(sent, counts, places, MPI_INT, all, counts, places, MPI_INT, both);
  for (int r = 0; r < remote; ++r) {
    check(all[places[r]] == 100 * (2 * r + 1 - rank % 2) + rank / 2);
  }
  /* From rank 0 to the odd ranks. */
  const int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  int value = rank == 0 ? 7 : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, both);
  check(value == (rank % 2 == 1 || rank == 0 ? 7 : -1));
  MPI_Scatterv(sent, counts, places, MPI_INT, &value, 1, MPI_INT, root, both);
  if (rank % 2 == 1) check(value == rank / 2);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int root = 0; root < size; ++root) {
    int value = rank == root ? root + 5 : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    check(value == root + 5);
  }
  exchange_all();
  MPI_Barrier(MPI_COMM_WORLD);
  between_two_groups();
  int total = 0;
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
