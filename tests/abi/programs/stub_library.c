/* A stub MPI for one process, such as libraries contain; Tutti does not support it.
 */
#include <string.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Gather(const void* send, int count, int type, void* all, int all_count, int all_type,
               int root, int comm);
int MPI_Barrier(int comm);

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return 0;
}

int MPI_Finalize(void) { return 0; }

/* The handle of a datatype is its size. */
int MPI_Gather(const void* send, int count, int type, void* all, int all_count, int all_type,
               int root, int comm) {
  (void)all_count;
  (void)all_type;
  (void)root;
  (void)comm;
  memcpy(all, send, (size_t)count * (size_t)type);
  return 0;
}

int MPI_Barrier(int comm) {
  (void)comm;
  return 0;
}
