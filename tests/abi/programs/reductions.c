/* Reduce, allreduce, reduce_scatter(_block), scan and exscan by their MPI names: a predefined
 * operation, an own one that does not commute, in place, and on an inter-communicator, where only
 * the MPI can run them; checks its own data. */
#include <mpi.h>
#include <stdio.h>

enum { most = 64 };
static int rank, size, wrong;

static void check(int good) {
  if (!good) ++wrong;
}

/* Joins adjacent ranges of ranks. */
static void join(void* left, void* result, int* length, MPI_Datatype* type) {
  (void)type;
  const int* a = left;
  int* b = result;
  for (int i = 0; i < *length; ++i, a += 2, b += 2) {
    if (a[1] != b[0]) b[1] = -1;
    b[0] = a[0];
  }
}

static void reduce_numbers(void) {
  int sent[most], received[most], counts[most], all = 0;
  for (int r = 0; r < size; ++r) {
    sent[r] = rank + r;
    counts[r] = 1;
    all += r;
  }
  MPI_Allreduce(sent, received, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(received[r] == all + r * size);
  MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(received[0] == all + rank * size);
  MPI_Reduce_scatter_block(sent, received, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(received[0] == rank + size - 1);
  MPI_Allreduce(MPI_IN_PLACE, sent, size, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(sent[r] == r);
}

static void scan_numbers(void) {
  int sent[most], received[most];
  for (int r = 0; r < size; ++r) {
    sent[r] = rank + r;
    received[r] = -7;
  }
  const int below = rank * (rank - 1) / 2;
  MPI_Exscan(sent, received, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(received[r] == (rank == 0 ? -7 : below + rank * r));
  MPI_Scan(sent, received, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(received[r] == below + rank + (rank + 1) * r);
  MPI_Scan(MPI_IN_PLACE, sent, size, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(sent[r] == rank + r);
  MPI_Exscan(MPI_IN_PLACE, sent, size, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) check(sent[r] == r);
}

static void reduce_in_sequence(MPI_Op op, MPI_Datatype pair) {
  int range[2], result[2];
  for (int root = 0; root < size; ++root) {
    range[0] = rank;
    range[1] = rank + 1;
    result[0] = result[1] = -7;
    if (rank == root) {
      result[0] = rank;
      result[1] = rank + 1;
    }
    MPI_Reduce(rank == root ? MPI_IN_PLACE : range, rank == root ? result : NULL, 1, pair, op, root,
               MPI_COMM_WORLD);
    if (rank == root) check(result[0] == 0 && result[1] == size);
    MPI_Allreduce(range, result, 1, pair, op, MPI_COMM_WORLD);
    check(result[0] == 0 && result[1] == size);
  }
  MPI_Scan(range, result, 1, pair, op, MPI_COMM_WORLD);
  check(result[0] == 0 && result[1] == rank + 1);
  MPI_Exscan(range, result, 1, pair, op, MPI_COMM_WORLD);
  check(result[0] == 0 && result[1] == (rank == 0 ? 1 : rank));
}

/* Even and odd ranks exchange data. */
static void between_two_groups(void) {
  if (size < 2) return;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  int one = 1, remote = 0, sum = 0;
  MPI_Comm_remote_size(both, &remote);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
  check(sum == remote);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(join, 0, &op);
  reduce_numbers();
  scan_numbers();
  reduce_in_sequence(op, pair);
  between_two_groups();
  int total = 0;
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(total == 0 ? "correct" : "wrong");
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return wrong != 0 || total != 0;
}
