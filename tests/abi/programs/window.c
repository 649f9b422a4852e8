/* The last rank broadcasts into all windows, which are freed without a release before it waits.
 * With the argument "killed" the last rank dies instead, while all others wait for it; with
 * "nested" a function that deletes an attribute of another window frees the window. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

enum { bytes = 30000, place = 10 };

static char memory[bytes + 2 * place];
static char news[bytes];
static char other_memory[place];
static MPI_Win inner;

static int free_inner(MPI_Win outer, int key, void* value, void* state) {
  (void)outer, (void)key, (void)value, (void)state;
  return MPI_Win_free(&inner);
}

/* Frees the window while a registered one is freed. */
static void free_nested(MPI_Win handle) {
  int key;
  MPI_Win outer;
  TUTTI_Window registered;
  inner = handle;
  if (MPI_Win_create(other_memory, place, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &outer)) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  TUTTI_Rma_window_register(outer, MPI_COMM_WORLD, &registered);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_inner, &key, NULL);
  MPI_Win_set_attr(outer, key, NULL);
  MPI_Win_free(&outer);
}

int main(int argc, char** argv) {
  int level, rank, p;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const int root = p - 1;
  MPI_Win handle;
  TUTTI_Window window;
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* If processes may not read each other's memory, Open MPI 4.1, with threads, makes windows of
   * its own memory only, which is gone with the window. */
  char* own;
  const int given =
      MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &handle) == 0;
  if (!given && MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &handle)) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (TUTTI_Rma_init(MPI_COMM_WORLD) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  TUTTI_Rma_window_register(handle, MPI_COMM_WORLD, &window);
  memset(news, p, sizeof news);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) {
    if (rank == root) {
      printf("killed\n");
      fflush(stdout);
      raise(SIGKILL);
    }
    TUTTI_Rma_wait(window, root, 1);
    printf("survived\n");
  }
  if (rank == root) TUTTI_Rma_bcast(news, bytes, MPI_CHAR, place, window, &request);
  const int nested = given && argc > 1 && strcmp(argv[1], "nested") == 0;
  nested ? free_nested(handle) : (void)MPI_Win_free(&handle);
  int good = !given || memcmp(memory + place, news, bytes) == 0;
  good = good && memory[place - 1] == 0 && memory[place + bytes] == 0;
  good = good && TUTTI_Rma_flush(&request) == MPI_SUCCESS;
  int class = MPI_SUCCESS;
  MPI_Error_class(TUTTI_Rma_bcast(news, 1, MPI_CHAR, 0, window, &request), &class);
  printf("%s\n", good && class == MPI_ERR_WIN ? "correct" : "wrong");
  MPI_Finalize();
  return 0;
}
