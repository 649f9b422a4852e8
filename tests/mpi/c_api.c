/* The C API from C11: versions, the list, requests, invalid values, truncated texts, what ran, and
 * what needs a thread. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

#include "watch.h"

static int passed = 0;
static int failed = 0;
static int rank = 0;

static void check(int good, const char* what, int line) {
  if (good) {
    ++passed;
  } else {
    ++failed;
    fprintf(stderr, "rank %d: line %d: %s\n", rank, line, what);
  }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static const char* const collectives[] = {"gather", "gatherv", "scatter", "scatterv"};
enum { collective_count = 4, text_size = 512 };

static void test_version(void) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  CHECK(TUTTI_Get_version(&major, &minor, &patch) == MPI_SUCCESS);
  CHECK(major == TUTTI_VERSION_MAJOR);
  CHECK(minor == TUTTI_VERSION_MINOR);
  CHECK(patch == TUTTI_VERSION_PATCH);
  CHECK(TUTTI_Get_version(NULL, &minor, &patch) != MPI_SUCCESS);
}

static void test_names(void) {
  for (int i = 0; i < collective_count; ++i) {
    char name[text_size];
    int count = 0;
    int has_binomial = 0;
    for (int length = text_size;
         TUTTI_Algorithm_name(collectives[i], count, name, &length) == MPI_SUCCESS;
         length = text_size) {
      CHECK(length > 0 && (size_t)length == strlen(name));
      has_binomial |= strcmp(name, "binomial") == 0;
      ++count;
    }
    CHECK(count >= 6);
    CHECK(has_binomial);
  }
  char name[text_size];
  int length = text_size;
  CHECK(TUTTI_Algorithm_name("GatherV", 0, name, &length) == MPI_SUCCESS);
  length = text_size;
  CHECK(TUTTI_Algorithm_name("gather", -1, name, &length) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_name("gather", 1000, name, &length) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_name("gossip", 0, name, &length) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_name(NULL, 0, name, &length) == MPI_ERR_ARG);
}

/* Convention 7 of the header: the text is cut to fit with its final zero; the length excludes it.
 */
static void test_cut(void) {
  char whole[text_size];
  int whole_length = text_size;
  CHECK(TUTTI_Algorithm_name("gather", 0, whole, &whole_length) == MPI_SUCCESS);
  for (int size = 1; size <= whole_length + 2; ++size) {
    char part[text_size];
    memset(part, '#', sizeof part);
    int length = size;
    CHECK(TUTTI_Algorithm_name("gather", 0, part, &length) == MPI_SUCCESS);
    const int expected = size - 1 < whole_length ? size - 1 : whole_length;
    CHECK(length == expected);
    CHECK(part[expected] == '\0');
    CHECK(memcmp(part, whole, (size_t)expected) == 0);
    CHECK(part[size] == '#');
  }
  char untouched = '#';
  int none = 0;
  CHECK(TUTTI_Algorithm_name("gather", 0, &untouched, &none) == MPI_ERR_ARG);
  CHECK(untouched == '#');
  CHECK(TUTTI_Algorithm_name("gather", 0, NULL, &whole_length) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_get("gather", whole, NULL) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_last(MPI_COMM_WORLD, "gather", NULL, NULL) == MPI_ERR_ARG);
}

/* The current specification, or "?" if there is none. */
static const char* in_force(const char* collective) {
  static char text[text_size];
  int length = text_size;
  if (TUTTI_Algorithm_get(collective, text, &length) != MPI_SUCCESS) return "?";
  return text;
}

static void test_set(void) {
  for (int i = 0; i < collective_count; ++i) {
    const char* const collective = collectives[i];
    char message[text_size];
    int length = text_size;
    CHECK(strcmp(in_force(collective), "auto") == 0);
    CHECK(TUTTI_Algorithm_set(collective, "knomial:k=3", message, &length) == MPI_SUCCESS);
    CHECK(strcmp(in_force(collective), "knomial:k=3") == 0);
    CHECK(TUTTI_Algorithm_set(collective, "TUW", NULL, NULL) == MPI_SUCCESS);
    CHECK(strncmp(in_force(collective), "ordered_tree:", 13) == 0);
    CHECK(TUTTI_Algorithm_set(collective, "native", NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(in_force(collective), "native") == 0);
    length = 0; /* no room for the text: nothing changes */
    CHECK(TUTTI_Algorithm_set(collective, "auto", message, &length) == MPI_ERR_ARG);
    CHECK(strcmp(in_force(collective), "native") == 0);
    CHECK(TUTTI_Algorithm_set(collective, "auto", NULL, NULL) == MPI_SUCCESS);
  }
  CHECK(strcmp(in_force("gossip"), "?") == 0);
}

/* Each value is refused with a text that names the fault; the current setting stays unchanged. */
static void test_bad_values(void) {
  static const struct {
    const char* specification;
    const char* in_message;
  } bad[] = {
      {"nonsense", "nonsense"},
      {"", "binomial"},
      {"knomial:k=1", "k"},
      {"knomial:k=many", "many"},
      {"binomial:k=3", "'k'"},
      {"linear_sync:segment=4Q", "4Q"},
      {"ordered_tree:rule=no", "rule"},
      {"linear:order=sideways", "sideways"},

      {"native:k=2", "native"},
  };
  CHECK(TUTTI_Algorithm_set("gather", "binomial", NULL, NULL) == MPI_SUCCESS);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    char message[text_size] = "";
    int length = text_size;
    const int code = TUTTI_Algorithm_set("gather", bad[i].specification, message, &length);
    const int good = code == MPI_ERR_ARG && strstr(message, bad[i].in_message) != NULL &&
                     (size_t)length == strlen(message);
    if (!good) fprintf(stderr, "\"%s\" gives \"%s\"\n", bad[i].specification, message);
    CHECK(good);
    CHECK(strcmp(in_force("gather"), "binomial") == 0);
  }
  CHECK(TUTTI_Algorithm_set("gather", NULL, NULL, NULL) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_set("gossip", "linear", NULL, NULL) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_set(NULL, "linear", NULL, NULL) == MPI_ERR_ARG);
  char message[8];
  int length = sizeof message;
  CHECK(TUTTI_Algorithm_set("gather", "nonsense", message, &length) == MPI_ERR_ARG);
  CHECK(length == 7 && strlen(message) == 7);
  CHECK(TUTTI_Algorithm_set("gather", "auto", NULL, NULL) == MPI_SUCCESS);
}

static void test_last(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int size = 0;
  MPI_Comm_size(comm, &size);
  char text[text_size];
  int length = text_size;
  CHECK(TUTTI_Algorithm_last(comm, "gather", text, &length) == MPI_SUCCESS);
  CHECK(length == 0 && text[0] == '\0');
  int all[64];
  CHECK(TUTTI_Algorithm_set("gather", "linear", NULL, NULL) == MPI_SUCCESS);
  CHECK(TUTTI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm) == MPI_SUCCESS);
  for (int i = 0; i < size && rank == 0; ++i) CHECK(all[i] == i);
  length = text_size;
  CHECK(TUTTI_Algorithm_last(comm, "gather", text, &length) == MPI_SUCCESS);
  CHECK(strncmp(text, "linear: ", 8) == 0);
  length = text_size;
  CHECK(TUTTI_Algorithm_last(comm, "scatter", text, &length) == MPI_SUCCESS);
  CHECK(length == 0);
  CHECK(TUTTI_Algorithm_set("gather", "native", NULL, NULL) == MPI_SUCCESS);
  CHECK(TUTTI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm) == MPI_SUCCESS);
  length = text_size;
  CHECK(TUTTI_Algorithm_last(comm, "gather", text, &length) == MPI_SUCCESS);
  CHECK(strncmp(text, "native: ", 8) == 0);
  CHECK(TUTTI_Algorithm_last(MPI_COMM_NULL, "gather", text, &length) == MPI_ERR_COMM);
  CHECK(TUTTI_Algorithm_last(comm, "gossip", text, &length) == MPI_ERR_ARG);
  CHECK(TUTTI_Algorithm_set("gather", "auto", NULL, NULL) == MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

/* Without MPI_THREAD_MULTIPLE there is no background thread: one-sided collectives are refused, and
 * gathers by arrival or in the background, also persistent ones, run without it. */
static void test_without_threads(void) {
  static const char* const algorithms[] = {"SLS", "SBN", "BSLS", "BSBN"};
  MPI_Comm comm;
  int level = MPI_THREAD_MULTIPLE;
  int size = 0;
  int error_class = MPI_SUCCESS;
  int all[64];
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm, &size);
  const int root = size - 1;
  MPI_Error_class(TUTTI_Rma_init(comm), &error_class);
  CHECK(error_class == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(TUTTI_Arrival_init(comm, 0.5) == MPI_SUCCESS);
  for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; ++i) {
    int own = 0;
    TUTTI_Request request = TUTTI_REQUEST_NULL;
    CHECK(TUTTI_Algorithm_set("gather", algorithms[i], NULL, NULL) == MPI_SUCCESS);
    CHECK(TUTTI_Gather_init(&own, 1, MPI_INT, all, 1, MPI_INT, root, comm, &request) ==
          MPI_SUCCESS);
    for (int call = 0; call < 12; ++call) {
      own = 100 * call + rank;
      CHECK(TUTTI_Arrival_edge(comm) == MPI_SUCCESS);
      if (call % 2 == 0) {
        CHECK(TUTTI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, comm) == MPI_SUCCESS);
      } else {
        CHECK(TUTTI_Start(&request) == MPI_SUCCESS);
        CHECK(TUTTI_Wait(&request) == MPI_SUCCESS);
      }
      for (int from = 0; from < size && rank == root; ++from) CHECK(all[from] == 100 * call + from);
    }
    CHECK(TUTTI_Request_free(&request) == MPI_SUCCESS);
  }
  CHECK(TUTTI_Algorithm_set("gather", "auto", NULL, NULL) == MPI_SUCCESS);
  CHECK(TUTTI_Arrival_finalize(comm) == MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  /* Functions that need no MPI work before MPI_Init too. */
  test_version();
  test_names();
  test_cut();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  watch(rank, 60);
  waits_in("test_set");
  test_set();
  waits_in("test_bad_values");
  test_bad_values();
  waits_in("test_last");
  test_last();
  waits_in("test_without_threads");
  test_without_threads();
  waits_in("the end");
  int counts[2] = {passed, failed};
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d passed, %d failed\n", counts[0], counts[1]);
  MPI_Finalize();
  return counts[1] == 0 ? 0 : 1;
}
