/* A program over stub_library.c.
 *
 *   stub [gather | bcast | c_api]   calls what the stub has (twice), what it lacks, or Tutti's C
 * API
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Gather(const void* send, int count, int type, void* all, int all_count, int all_type,
               int root, int comm);
int MPI_Barrier(int comm);
__attribute__((weak)) int MPI_Bcast(void* data, int count, int type, int root, int comm);

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "gather";
  const int size = (int)sizeof(int);
  int sent = 42;
  int received = 0;
  MPI_Init(&argc, &argv);
  if (strcmp(what, "bcast") == 0 && MPI_Bcast != NULL) MPI_Bcast(&sent, 1, size, 0, 1);
  if (strcmp(what, "c_api") == 0) {
    int (*barrier)(int) = NULL;
    *(void**)&barrier = dlsym(RTLD_DEFAULT, "TUTTI_Barrier");
    if (barrier != NULL) barrier(1);
  }
  MPI_Barrier(1);
  MPI_Gather(&sent, 1, size, &received, 1, size, 0, 1);
  puts(received == 42 ? "correct" : "wrong");
  return MPI_Finalize();
}
