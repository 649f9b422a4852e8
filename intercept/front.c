/* The preloaded library. It exports the C API and the MPI functions that Tutti handles, detects at
 * the first call which MPI the program has loaded, and forwards calls to the backend for it.
 * Without such a backend, or with Tutti off, calls go to the next library in line. It uses no MPI
 * header and links to no MPI: one file serves all, and programs without MPI are not affected. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api.inc"
#include "backend.h"
#include "behind.h"
#include "beside.h"
#include "run/mpi/loaded_mpi.h"

#define EXPORT __attribute__((visibility("default")))

/* A program that loads the C API itself finds by this symbol that the front is present. It must
 * then use the front's copy of the API, because calls of MPI_Finalize come here. Linked programs
 * get the front's functions anyway. */
EXPORT const char tutti_front = 1;

/* Targets of calls of MPI_X and of PMPI_X: the backend, or the library behind this one. */
static const struct tutti_backend_interface* serving;
static const struct tutti_backend_interface* serving_profiled;
/* What hands calls on without a backend, in as few pages as possible. */
static struct tutti_passing no_passing = TUTTI_NO_PASSING;
static struct {
  struct tutti_recent recent;
  struct tutti_functions functions; /* the MPI's own; null where calls go to the backend */
} passing = {.recent = TUTTI_RECENT(&no_passing)};
static pthread_once_t serving_once = PTHREAD_ONCE_INIT;

static const struct tutti_backend_interface* backend; /* once it is loaded */
/* The same for calls of PMPI_X: what it leaves to the MPI does not go to a tool, which may have
 * made them, and which the MPI's own PMPI_X does not call. */
static const struct tutti_backend_interface* profiled_backend;
static void* backend_library;
static const char* backend_lacks; /* why no backend is loaded */
static pthread_once_t backend_once = PTHREAD_ONCE_INIT;
static int ending; /* the program has called MPI_Finalize */

static _Noreturn void stop(const char* what, const char* why) {
  fprintf(stderr, "tutti: %s: %s; run without LD_PRELOAD, or link with Tutti's C API\n", what, why);
  abort();
}

enum {
#define NUMBER(name, arguments) counted_##name,
  TUTTI_COUNTED(NUMBER) counted_functions
};
static struct tutti_counter counters[counted_functions] = {
#define COUNTER(name, arguments) {"MPI_" #name, 0},
    TUTTI_COUNTED(COUNTER)};

/* Hands on calls from now on, unless another tool behind this library passes them to PMPI_X: the
 * backend sees that these are inside a call. Returns whether a tool is behind. */
static int pass_on(const struct tutti_backend_interface* to, const struct tutti_functions* next) {
  struct tutti_functions mpi;
  int has_tool = 0;
  int has_other_tool = 0;
  memset(&mpi, 0, sizeof mpi);
  to->get_mpi(&mpi);
#define IS_TOOL(name) !tutti_are_together(*(void**)&mpi.name, *(void* const*)&next->name)
#define TUTTI_INTERCEPTED(name, arguments) has_tool |= IS_TOOL(name);
#define TUTTI_OTHER(name, arguments) has_other_tool |= IS_TOOL(name);
#include "intercepted.inc"
  if (has_tool) return 1;
#define TUTTI_INTERCEPTED(name, arguments) \
  __atomic_store_n(&passing.functions.name, mpi.name, __ATOMIC_RELAXED);
#define TUTTI_OTHER(name, arguments)
#include "intercepted.inc"
  to->set_recent(&passing.recent);
  return has_other_tool;
}

/* The backend's functions for calls of PMPI_X where a tool is behind. */
static const struct tutti_backend_interface* make_profiled(
    const struct tutti_backend_interface* found);

static void load_backend(void) {
  const struct tutti_loaded_mpi mpi = tutti_find_mpi(NULL);
  if (mpi.backend == NULL) {
    backend_lacks =
        "no supported MPI library is loaded (need MPICH, Intel MPI, Open MPI or the MPI ABI; a "
        "statically linked MPI cannot be intercepted)";
    return;
  }
  const char* why = NULL;
  tutti_backend_function get = NULL;
  backend_library = tutti_open_beside(mpi.backend, &why);
  if (backend_library == NULL) stop(mpi.backend, why);
  *(void**)&get = dlsym(backend_library, "tutti_backend_for");
  const struct tutti_backend_interface* found = get == NULL ? NULL : get(TUTTI_INTERFACE);
  if (found == NULL) stop(mpi.backend, "not a backend of this version of Tutti");
  if (found->missing() != NULL) {
    static char text[128];
    snprintf(text, sizeof text, "the loaded MPI lacks %s", found->missing());
    backend_lacks = text;
    return;
  }
  /* Another tool behind this one stands in for the MPI. */
  struct tutti_functions next;
#define TUTTI_INTERCEPTED(name, arguments) *(void**)&next.name = tutti_next_in_line("MPI_" #name);
#include "intercepted.inc"
  found->set_next(&next);
  const int has_tool = pass_on(found, &next);
  found->set_front((void*)(uintptr_t)&load_backend);
  found->set_counters(counters, counted_functions);
  if (ending) found->note_end();
  profiled_backend = has_tool ? make_profiled(found) : found;
  __atomic_store_n(&backend, found, __ATOMIC_RELEASE);
}

static void serve(const struct tutti_backend_interface* calls,
                  const struct tutti_backend_interface* profiled_calls) {
  __atomic_store_n(&serving_profiled, profiled_calls, __ATOMIC_RELEASE);
  __atomic_store_n(&serving, calls, __ATOMIC_RELEASE);
}

/* The backend, which serves all calls from now on; NULL if none can be loaded. */
static const struct tutti_backend_interface* get_backend(void) {
  const struct tutti_backend_interface* now = __atomic_load_n(&serving, __ATOMIC_ACQUIRE);
  const struct tutti_backend_interface* loaded = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
  if (loaded != NULL && now == loaded) return loaded;
  pthread_once(&backend_once, load_backend);
  loaded = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
  if (loaded != NULL) serve(loaded, profiled_backend);
  return loaded;
}

/* Does the setting have one of these values, in any case? The backend refuses invalid ones. */
static int is_one_of(const char* setting, const char* const values[4]) {
  const char* given = getenv(setting);
  for (int i = 0; given != NULL && i < 4; ++i) {
    if (strcasecmp(given, values[i]) == 0) return 1;
  }
  return 0;
}

static int is_switched_on(const char* setting) {
  static const char* const values[4] = {"on", "1", "true", "yes"};
  return is_one_of(setting, values);
}

static int is_off(void) {
  static const char* const values[4] = {"off", "0", "false", "no"};
  return is_one_of("TUTTI", values);
}

/* A report of native calls needs the backend, even with Tutti off. */
static int has_report(void) {
  const char* report = getenv("TUTTI_REPORT");
  return report != NULL && report[0] != '\0' && strcmp(report, "none") != 0;
}

/* TUTTI_BACKGROUND=on also requests the thread level that the thread needs. Open MPI and MPICH read
 * it from these variables in MPI_Init, whatever language calls it. Values that the user has set
 * stay. */
__attribute__((constructor)) static void raise_thread_level(void) {
  if (!is_switched_on("TUTTI_BACKGROUND") || is_off()) return;
  setenv("OMPI_MPI_THREAD_LEVEL", "3", 0);
  setenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE", 0);
}

#define TUTTI_INTERCEPTED(name, arguments)                     \
  static int profiled_##name(PARAMETERS##arguments) {          \
    backend->enter_profiled();                                 \
    const int error = backend->run.name(ARGUMENTS##arguments); \
    backend->leave_profiled();                                 \
    return error;                                              \
  }
#include "intercepted.inc"

static const struct tutti_backend_interface* make_profiled(
    const struct tutti_backend_interface* found) {
  static struct tutti_backend_interface made;
  made = *found;
#define TUTTI_INTERCEPTED(name, arguments) made.run.name = profiled_##name;
#include "intercepted.inc"
  return &made;
}

static _Noreturn void stop_without(const char* name) {
  fprintf(stderr, "tutti: no loaded MPI library has %s\n", name);
  abort();
}

/* Stand-ins for functions that no library behind this one has. Programs that find a function with
 * large counts here may call it although their MPI is older: the backend has all. */
#define TUTTI_INTERCEPTED(name, arguments)                       \
  static int lacking_##name(PARAMETERS##arguments) {             \
    const struct tutti_backend_interface* found = get_backend(); \
    if (found == NULL) stop_without("MPI_" #name);               \
    return found->run.name(ARGUMENTS##arguments);                \
  }
#define TUTTI_OTHER(name, arguments) \
  static int lacking_##name(void) { stop_without("MPI_" #name); }
#include "intercepted.inc"

/* Fills in the functions that pass calls on, as without Tutti. Returns the number of functions
 * found. Calls of PMPI_X do not go to a tool, which may have made them. */
static int find_passing(struct tutti_backend_interface* calls,
                        struct tutti_backend_interface* profiled_calls) {
  void* mpi = tutti_mpi_library();
  int number = 0;
#define TUTTI_INTERCEPTED(name, arguments)                                                  \
  *(void**)&calls->run.name = tutti_find_behind(mpi, "MPI_" #name, "PMPI_" #name);          \
  *(void**)&profiled_calls->run.name = tutti_find_behind(mpi, "PMPI_" #name, "MPI_" #name); \
  if (calls->run.name != NULL) {                                                            \
    ++number;                                                                               \
  } else {                                                                                  \
    *(void**)&calls->run.name = (void*)(uintptr_t)lacking_##name;                           \
    profiled_calls->run.name = calls->run.name;                                             \
  }
#include "intercepted.inc"
  return number;
}

static void begin_to_serve(void) {
  static struct tutti_backend_interface calls;
  static struct tutti_backend_interface profiled_calls;
  const int passes = is_off() && !has_report();
  if (!passes && get_backend() != NULL) return;
  if (find_passing(&calls, &profiled_calls) > 0 && !passes) {
    fprintf(stderr, "tutti: %s; all calls go to the MPI unchanged\n", backend_lacks);
  }
  /* Calls of the C API may have loaded the backend meanwhile. */
  if (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) == NULL) serve(&calls, &profiled_calls);
}

/* What serves the program's first call, and all after it. */
static const struct tutti_backend_interface* begin(const struct tutti_backend_interface** to) {
  pthread_once(&serving_once, begin_to_serve);
  return __atomic_load_n(to, __ATOMIC_ACQUIRE);
}

/* A call jumps to what serves it, after the first one, unless `passes` returns before. Its code
 * begins a cache line, so that it is in one or two. */
#define DEFINE_AS(symbol, to, name, arguments, passes)                                             \
  __attribute__((cold, noinline)) static int first_##symbol(PARAMETERS##arguments) {               \
    return begin(&(to))->run.name(ARGUMENTS##arguments);                                           \
  }                                                                                                \
  EXPORT int symbol(PARAMETERS##arguments);                                                        \
  __attribute__((hot, aligned(64))) int symbol(PARAMETERS##arguments) {                            \
    passes const struct tutti_backend_interface* calls = __atomic_load_n(&(to), __ATOMIC_ACQUIRE); \
    return calls != NULL ? calls->run.name(ARGUMENTS##arguments)                                   \
                         : first_##symbol(ARGUMENTS##arguments);                                   \
  }
/* Also PMPI_X: Open MPI's Fortran bindings, and tools in front of this one, call it. */
#define DEFINE(name, arguments, passes)                   \
  DEFINE_AS(MPI_##name, serving, name, arguments, passes) \
  DEFINE_AS(PMPI_##name, serving_profiled, name, arguments, passes)

/* A collective's last argument is the communicator. */
#define PASSES(name, number, arguments)                                                          \
  const tutti_call##arguments next = __atomic_load_n(&passing.functions.name, __ATOMIC_RELAXED); \
  if (next != NULL && tutti_passes(&passing.recent, LAST##arguments, number)) {                  \
    return next(ARGUMENTS##arguments);                                                           \
  }
#define LAST1 a
#define LAST5 e
#define LAST6 f
#define LAST7 g
#define LAST8 h
#define LAST9 i
#define DEFINE_COLLECTIVE(collective, name, arguments) \
  DEFINE(name, arguments, PASSES(name, tutti_number_of_##collective, arguments))
#define TUTTI_FUNCTION(collective, name, number, parameters) \
  DEFINE_COLLECTIVE(collective, name, number)
#define TUTTI_LARGE_FUNCTION(collective, name, number, parameters) \
  DEFINE_COLLECTIVE(collective, name##_c, number)
#include "core/collectives.inc"
#define DEFINE_FREE(name, arguments) DEFINE(name, arguments, )
TUTTI_FREES_COMM(DEFINE_FREE)

/* Calls that are only counted. A tool behind this library may pass one on to PMPI_X, which counts
 * once only. */
static _Thread_local int counted_depth;

/* Counts a call, and returns the next definition of `name` in line, which `*known` keeps. */
static void* count_call(struct tutti_counter* counter, void** known, const char* name,
                        const char* other) {
  if (counted_depth++ == 0) __atomic_fetch_add(&counter->calls, 1, __ATOMIC_RELAXED);
  void* next = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (next != NULL) return next;
  next = tutti_find_behind(tutti_mpi_library(), name, other);
  if (next == NULL) stop_without(name);
  __atomic_store_n(known, next, __ATOMIC_RELAXED);
  return next;
}

#define DEFINE_COUNTED_AS(symbol, other, name, arguments)                            \
  EXPORT int symbol(PARAMETERS##arguments);                                          \
  int symbol(PARAMETERS##arguments) {                                                \
    static void* known;                                                              \
    tutti_call##arguments next = NULL;                                               \
    *(void**)&next = count_call(&counters[counted_##name], &known, #symbol, #other); \
    const int error = next(ARGUMENTS##arguments);                                    \
    --counted_depth;                                                                 \
    return error;                                                                    \
  }
#define DEFINE_COUNTED(name, arguments)                       \
  DEFINE_COUNTED_AS(MPI_##name, PMPI_##name, name, arguments) \
  DEFINE_COUNTED_AS(PMPI_##name, MPI_##name, name, arguments)
TUTTI_COUNTED(DEFINE_COUNTED)

/* The backend's function of the C API, which the front exports by the same name. */
static void* api_function(const char* name, void** known) {
  const struct tutti_backend_interface* found = get_backend();
  if (found == NULL) stop(name, backend_lacks);
  void* function = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (function != NULL) return function;
  function = dlsym(backend_library, name);
  if (function == NULL) stop(name, "not a function of this version's backend");
  __atomic_store_n(known, function, __ATOMIC_RELAXED);
  return function;
}

#define FIND_API(call, name) \
  static void* known;        \
  *(void**)&(call) = api_function(#name, &known);

#define DEFINE_C(name, parameters, arguments) \
  EXPORT int name parameters;                 \
  int name parameters {                       \
    int(*call) parameters;                    \
    FIND_API(call, name)                      \
    return call arguments;                    \
  }
TUTTI_C_ALL(DEFINE_C)

#define DEFINE_FORTRAN(name, parameters, arguments) \
  EXPORT void name parameters;                      \
  void name parameters {                            \
    void(*call) parameters;                         \
    FIND_API(call, name)                            \
    call arguments;                                 \
  }
TUTTI_FORTRAN_ALL(DEFINE_FORTRAN)

/* If the program has called none of the above, this calls the next MPI_Finalize and loads no
 * backend, unless other libraries call one of them as MPI ends. */
static int finalize(const char* name, const struct tutti_backend_interface** to) {
  tutti_call0 next = NULL;
  /* A report says that nothing was called. */
  if (__atomic_load_n(to, __ATOMIC_ACQUIRE) == NULL && has_report()) get_backend();
  ending = 1;
  if (__atomic_load_n(to, __ATOMIC_ACQUIRE) == NULL) *(void**)&next = tutti_next_in_line(name);
  return next != NULL ? next() : begin(to)->run.Finalize();
}

EXPORT int MPI_Finalize(void);
EXPORT int PMPI_Finalize(void);
int MPI_Finalize(void) { return finalize("MPI_Finalize", &serving); }
int PMPI_Finalize(void) { return finalize("PMPI_Finalize", &serving_profiled); }

/* Completes the one-sided operations on a window before it is freed: Open MPI deletes its
 * attributes only afterwards. */
static int free_window(const char* name, const struct tutti_backend_interface** to,
                       tutti_word window) {
  tutti_call1 next = NULL;
  if (__atomic_load_n(to, __ATOMIC_ACQUIRE) == NULL) *(void**)&next = tutti_next_in_line(name);
  return next != NULL ? next(window) : begin(to)->run.Win_free(window);
}

EXPORT int MPI_Win_free(tutti_word window);
EXPORT int PMPI_Win_free(tutti_word window);
int MPI_Win_free(tutti_word window) { return free_window("MPI_Win_free", &serving, window); }
int PMPI_Win_free(tutti_word window) {
  return free_window("PMPI_Win_free", &serving_profiled, window);
}
