/* All movements of data with MPI_BOTTOM and types of absolute addresses; checks its own data. */
#include <mpi.h>
#include <stdio.h>

enum { most = 64 };
static int rank, size, wrong;
/* Two ints with a gap between them for each rank. */
static int given[3 * most], got[3 * most];

static MPI_Datatype at(int* memory) {
  const int lengths[] = {1, 1};
  MPI_Aint places[2];
  MPI_Datatype type;
  MPI_Get_address(memory, &places[0]);
  MPI_Get_address(memory + 2, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void fill(void) {
  for (int i = 0; i < 3 * most; ++i) given[i] = 1000 * rank + i, got[i] = -1;
}

/* Checks that received block `block` is the one that rank `from` has at index `place`. */
static void check(const char* call, int block, int from, int place) {
  const int first = 1000 * from + 3 * place;
  const int* found = got + 3 * block;
  if (found[0] == first && found[1] == -1 && found[2] == first + 2) return;
  printf("rank %d: %s: block %d is %d %d %d\n", rank, call, block, found[0], found[1], found[2]);
  ++wrong;
}

static void check_all(const char* call, int place) {
  for (int r = 0; r < size; ++r) check(call, r, r, place);
}

static void rooted(int root, MPI_Datatype from, MPI_Datatype to, const int* counts,
                   const int* places) {
  fill();
  MPI_Gather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD);
  if (rank == root) check_all("gather", 0);
  fill();
  MPI_Gatherv(MPI_BOTTOM, 1, from, MPI_BOTTOM, counts, places, to, root, MPI_COMM_WORLD);
  if (rank == root) check_all("gatherv", 0);
  fill();
  MPI_Scatter(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD);
  check("scatter", 0, root, rank);
  fill();
  MPI_Scatterv(MPI_BOTTOM, counts, places, from, MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD);
  check("scatterv", 0, root, rank);
  fill();
  MPI_Bcast(MPI_BOTTOM, 1, rank == root ? from : to, root, MPI_COMM_WORLD);
  if (rank != root) check("bcast", 0, root, 0);
}

static void exchanged(MPI_Datatype from, MPI_Datatype to, const int* counts, const int* places) {
  int none[most] = {0};
  MPI_Datatype sent[most], received[most];
  for (int r = 0; r < size; ++r) sent[r] = at(given + 3 * r), received[r] = at(got + 3 * r);
  fill();
  MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
  check_all("allgather", 0);
  fill();
  MPI_Allgatherv(MPI_BOTTOM, 1, from, MPI_BOTTOM, counts, places, to, MPI_COMM_WORLD);
  check_all("allgatherv", 0);
  fill();
  MPI_Alltoall(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
  check_all("alltoall", rank);
  fill();
  MPI_Alltoallv(MPI_BOTTOM, counts, places, from, MPI_BOTTOM, counts, places, to, MPI_COMM_WORLD);
  check_all("alltoallv", rank);
  fill();
  MPI_Alltoallw(MPI_BOTTOM, counts, none, sent, MPI_BOTTOM, counts, none, received, MPI_COMM_WORLD);
  check_all("alltoallw", rank);
  for (int r = 0; r < size; ++r) MPI_Type_free(&sent[r]), MPI_Type_free(&received[r]);
}

int main(int argc, char** argv) {
  int counts[most], places[most], total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < size; ++r) counts[r] = 1, places[r] = r;
  MPI_Datatype from = at(given), to = at(got);
  for (int root = 0; root < size; ++root) rooted(root, from, to, counts, places);
  exchanged(from, to, counts, places);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
