/* Small calls, which the MPI is to run, between large ones, which Tutti runs: passing CALLS TEXT
 * [alike]. Unless they are alike, ranks write the same calls in different ways, so that they may
 * pass on some ranks only. TEXT: with what the algorithm of a small call begins, or "-". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { small = 8, large = 4096 };

static int p, rank, wrong = 0, are_alike = 0, own[4 * large], all[16 * large];
static MPI_Comm comm;
static const char* told;

static void expect(int got, int right, const char* what) {
  if (got != right && wrong++ < 5)
    printf("rank %d: %s: %d instead of %d\n", rank, what, got, right);
}

/* The elements of this rank's calls: ints, pairs of a type that lives as long as the call, or pairs
 * of a predefined type. */
static MPI_Datatype element(int call, int* count) {
  MPI_Datatype type = MPI_INT;
  if (are_alike) return type;
  if ((call + rank) % 3 == 1) {
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    *count /= 2;
  } else if ((call + rank) % 3 == 2) {
    type = MPI_2INT;
    *count /= 2;
  }
  return type;
}

static void end(MPI_Datatype* type) {
  if (*type != MPI_INT && *type != MPI_2INT) MPI_Type_free(type);
}

static void check_text(const char* collective, int ints) {
  char text[256];
  int length = sizeof text;
  TUTTI_Algorithm_last(comm, collective, text, &length);
  const int is_native = strncmp(text, "native", 6) == 0;
  if (told[0] == '-') return;
  if (is_native != (ints == small) || (is_native && strncmp(text, told, strlen(told)) != 0)) {
    if (wrong++ < 5) printf("rank %d: %s of %d ints ran %s\n", rank, collective, ints, text);
  }
}

/* Irregular calls: rank i has `ints` more or less elements, and all together alike. */
static void run_irregular(int call, int kind, int ints) {
  int counts[16], places[16], place = 0;
  const int is_in_place = call % 5 == 0 && kind != 10;
  for (int i = 0; i < p; ++i) {
    counts[i] = kind == 9 ? ints / 2 : ints + (i + call) % p - p / 2;
    places[i] = place;
    place += counts[i];
  }
  const int count = counts[rank], root = call % p;
  for (int i = 0; i < count; ++i) own[i] = 7 * rank + i + call;
  memset(all, -1, sizeof all);
  switch (kind) {
    case 8:
      if (is_in_place) memcpy(all + places[rank], own, (size_t)count * sizeof *own);
      MPI_Allgatherv(is_in_place ? MPI_IN_PLACE : own, count, MPI_INT, all, counts, places, MPI_INT,
                     comm);
      break;
    case 9: /* all to all: in place without counts of what is sent */
      if (is_in_place) {
        for (int i = 0; i < place; ++i) all[i] = 7 * rank + i % counts[0] + call;
      }
      for (int i = 0; i < place; ++i) own[i] = 7 * rank + i % counts[0] + call;
      MPI_Alltoallv(is_in_place ? MPI_IN_PLACE : own, is_in_place ? NULL : counts,
                    is_in_place ? NULL : places, MPI_INT, all, counts, places, MPI_INT, comm);
      break;
    default:
      MPI_Gatherv(own, count, MPI_INT, all, rank == root ? counts : NULL,
                  rank == root ? places : NULL, MPI_INT, root, comm);
  }
  for (int i = 0; i < p && (kind != 10 || rank == root); ++i) {
    for (int j = 0; j < counts[i]; ++j) expect(all[places[i] + j], 7 * i + j + call, "irregular");
  }
}

static void run(int call, int kind, int ints) {
  if (kind >= 8) {
    run_irregular(call, kind, ints);
    return;
  }
  int count = ints;
  const int root = call % p;
  const int is_in_place = call % 5 == 0;
  MPI_Datatype type = kind < 5 ? element(call, &count) : MPI_INT;
  for (int i = 0; i < ints; ++i) own[i] = 7 * rank + i + call;
  memset(all, -1, sizeof all);
  switch (kind) {
    case 0:
      MPI_Bcast(own, count, type, root, comm);
      for (int i = 0; i < ints; ++i) expect(own[i], 7 * root + i + call, "bcast");
      check_text("bcast", ints);
      break;
    case 1:
      MPI_Allgather(own, count, type, all, count, type, comm);
      for (int i = 0; i < p * ints; ++i)
        expect(all[i], 7 * (i / ints) + i % ints + call, "allgather");
      check_text("allgather", ints);
      break;
    case 2:
      MPI_Gather(own, count, type, all, ints, MPI_INT, root, comm);
      for (int i = 0; rank == root && i < p * ints; ++i) {
        expect(all[i], 7 * (i / ints) + i % ints + call, "gather");
      }
      check_text("gather", ints);
      break;
    case 3:
      for (int i = 0; i < p * ints; ++i) all[i] = 3 * i + root + call;
      MPI_Scatter(all, ints, MPI_INT, own, count, type, root, comm);
      for (int i = 0; i < ints; ++i) expect(own[i], 3 * (rank * ints + i) + root + call, "scatter");
      check_text("scatter", ints);
      break;
    case 4: {
      int sent[16 * small];
      int* const from = ints == small ? sent : malloc((size_t)p * (size_t)ints * sizeof *from);
      for (int i = 0; i < p * ints; ++i) from[i] = 1000 * rank + i % ints + i / ints;
      MPI_Alltoall(from, count, type, all, count, type, comm);
      for (int i = 0; i < p * ints; ++i)
        expect(all[i], 1000 * (i / ints) + i % ints + rank, "alltoall");
      if (from != sent) free(from);
      check_text("alltoall", ints);
      break;
    }
    case 5:
      if (is_in_place) memcpy(all, own, (size_t)ints * sizeof *own);
      MPI_Allreduce(is_in_place ? MPI_IN_PLACE : own, all, ints, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < ints; ++i)
        expect(all[i], 7 * p * (p - 1) / 2 + p * (i + call), "allreduce");
      check_text("allreduce", ints);
      break;
    case 6:
      MPI_Reduce(own, all, ints, MPI_INT, call % 2 == 0 ? MPI_MAX : MPI_SUM, root, comm);
      for (int i = 0; rank == root && i < ints; ++i) {
        const int most = 7 * (p - 1) + i + call;
        expect(all[i], call % 2 == 0 ? most : 7 * p * (p - 1) / 2 + p * (i + call), "reduce");
      }
      check_text("reduce", ints);
      break;
    default:
      MPI_Scan(own, all, ints, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < ints; ++i) {
        expect(all[i], 7 * rank * (rank + 1) / 2 + (rank + 1) * (i + call), "scan");
      }
      check_text("scan", ints);
  }
  end(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &rank);
  told = argc > 2 ? argv[2] : "-";
  are_alike = argc > 3;
  unsigned random = 1;
  for (int call = 0; call < atoi(argv[1]); ++call) {
    random = random * 1103515245U + 12345U;
    const int kind = (int)(random >> 16) % (are_alike ? 8 : 11);
    run(call, kind, (random >> 24) % (are_alike ? 64 : 4) == 0 ? large : small);
    if (call % 100 == 99 && !are_alike) { /* changes what counts as current, on one rank alone */
      MPI_Comm other;
      MPI_Comm_dup(MPI_COMM_SELF, &other);
      if (rank == call / 100 % p) MPI_Barrier(other);
      MPI_Comm_free(&other);
    }
  }
  int sum = 0;
  MPI_Comm_free(&comm);
  PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && sum == 0) puts("correct");
  MPI_Finalize();
  return sum != 0;
}
