/* Broadcasts one element of 2.5 GiB that has gaps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES ((size_t)640 << 20)
enum { used = 4, pitch = 5 };

static char expected(size_t piece) { return (char)(piece * 2654435761U >> 24); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype piece;
  MPI_Datatype spaced;
  MPI_Datatype element;
  MPI_Type_contiguous(used, MPI_CHAR, &piece);
  MPI_Type_create_resized(piece, 0, pitch, &spaced);
  MPI_Type_contiguous((int)PIECES, spaced, &element);
  MPI_Type_commit(&element);
  char* data = malloc(pitch * PIECES);
  for (size_t i = 0; i < PIECES; ++i) {
    for (int k = 0; k < pitch; ++k) data[pitch * i + (size_t)k] = rank == 0 ? expected(i) : 'x';
  }
  MPI_Bcast(data, 1, element, 0, MPI_COMM_WORLD);
  size_t wrong = 0;
  for (size_t i = 0; i < PIECES; ++i) {
    wrong += data[pitch * i] != expected(i) || data[pitch * i + used - 1] != expected(i);
    wrong += rank != 0 && data[pitch * i + used] != 'x';
  }
  if (wrong == 0) printf("correct\n");
  free(data);
  MPI_Type_free(&element);
  MPI_Type_free(&spaced);
  MPI_Type_free(&piece);
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
