/* Allgathervs and reduce-scatters in turn of equal and of uneven blocks with the same mean:
 * irregular CALLS EQUAL UNEVEN. Ranks describe the same blocks by different types. EQUAL, UNEVEN:
 * with what the text of their algorithms begins. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { mean = 8, most = 16 };

static int p, rank, wrong = 0, own[most * mean], all[most * mean];

static void expect(int got, int right, const char* what) {
  if (got != right && wrong++ < 5)
    printf("rank %d: %s: %d instead of %d\n", rank, what, got, right);
}

static void check_text(const char* collective, const char* told) {
  char text[256];
  int length = sizeof text;
  TUTTI_Algorithm_last(MPI_COMM_WORLD, collective, text, &length);
  if (strncmp(text, told, strlen(told)) != 0 && wrong++ < 5)
    printf("rank %d: %s ran %s instead of %s\n", rank, collective, text, told);
}

/* Uneven: the others have 2 ints each, rank 0 the rest. */
static int ints_of(int of, int is_uneven) {
  if (!is_uneven) return mean;
  return of > 0 ? 2 : p * mean - 2 * (p - 1);
}

static void gather_all(int call, int is_uneven) {
  int counts[most], places[most];
  const int width = (call + rank) % 2 + 1; /* of MPI_INT or MPI_2INT */
  for (int i = 0, place = 0; i < p; place += ints_of(i, is_uneven), ++i) {
    counts[i] = ints_of(i, is_uneven) / width;
    places[i] = place / width;
  }
  for (int i = 0; i < counts[rank] * width; ++i) own[i] = call + places[rank] * width + i;
  const MPI_Datatype type = width == 1 ? MPI_INT : MPI_2INT;
  MPI_Allgatherv(own, counts[rank], type, all, counts, places, type, MPI_COMM_WORLD);
  for (int i = 0; i < p * mean; ++i) expect(all[i], call + i, "allgatherv");
}

static void reduce_and_scatter(int call, int is_uneven) {
  int counts[most], first = 0;
  for (int i = 0; i < p; ++i) counts[i] = ints_of(i, is_uneven);
  for (int i = 0; i < rank; ++i) first += counts[i];
  for (int i = 0; i < p * mean; ++i) own[i] = call + i + rank;
  MPI_Reduce_scatter(own, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < counts[rank]; ++i) {
    expect(all[i], p * (call + first + i) + p * (p - 1) / 2, "reduce_scatter");
  }
}

int main(int argc, char** argv) {
  int wrong_at_all = 0;
  if (argc < 4) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int call = 0; call < atoi(argv[1]); ++call) {
    const int is_uneven = call % 4 == 3;
    gather_all(call, is_uneven);
    check_text("allgatherv", argv[2 + is_uneven]);
    reduce_and_scatter(call, is_uneven);
    check_text("reduce_scatter", argv[2 + is_uneven]);
  }
  PMPI_Reduce(&wrong, &wrong_at_all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && wrong_at_all == 0) puts("correct");
  MPI_Finalize();
  return 0;
}
