/* The preloaded library: exports the MPI functions that Tutti handles and the C API, finds out at
 * the first call which MPI the program has loaded, and hands over to the backend for it. It knows
 * no MPI header and links to no MPI, so that one file serves all, and programs without MPI are not
 * touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.inc"
#include "backend.h"
#include "beside.h"

#define EXPORT __attribute__((visibility("default")))

/* Backends by the beginning of the file name of the MPI library that they are for. */
static const struct {
  const char* libmpi;
  const char* backend;
} backends[] = {
    {"libmpi.so.40", "libtutti-openmpi.so"},   {"libmpi.so.80", "libtutti-openmpi.so"},
    {"libmpi_abi.so.0", "libtutti-mpiabi.so"}, {"libmpi_abi.so.1", "libtutti-mpiabi.so"},
    {"libmpich.so.12", "libtutti-mpich.so"},   {"libmpi.so.12", "libtutti-mpich.so"},
};

/* By this a program that loads the C API itself finds that this front is there, whose copy it then
 * has to use: calls of MPI_Finalize come here. Linked programs get the front's functions anyhow. */
EXPORT const char tutti_front = 1;

static const struct tutti_backend_interface* backend;
static void* backend_library;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ending; /* the program has called MPI_Finalize */

static const char* file_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The backend for an MPI library by its name, which may go on with further version numbers. */
static const char* backend_for(const char* file) {
  for (size_t i = 0; i < sizeof backends / sizeof backends[0]; ++i) {
    const size_t length = strlen(backends[i].libmpi);
    if (strncmp(file, backends[i].libmpi, length) != 0) continue;
    if (file[length] == '\0' || file[length] == '.') return backends[i].backend;
  }
  return NULL;
}

/* The name that a loaded object gives itself, or NULL. Files are named in too many ways: links
 * without a version, and in wheels copies of them. */
static const char* soname_of(const struct dl_phdr_info* object) {
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    entry = (const ElfW(Dyn)*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  }
  ElfW(Addr) strings = 0;
  ElfW(Xword) soname = 0;
  for (; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) soname = entry->d_un.d_val;
  }
  if (strings == 0 || soname == 0) return NULL;
  /* The loader relocates this address on most machines, not on all. */
  if (strings < object->dlpi_addr) strings += object->dlpi_addr;
  return (const char*)strings + soname;
}

static int note_backend(struct dl_phdr_info* object, size_t size, void* found) {
  (void)size;
  if (strncmp(file_of(object->dlpi_name), "libmpi", strlen("libmpi")) != 0) return 0;
  const char* soname = soname_of(object);
  const char* backend_file = soname != NULL ? backend_for(soname) : NULL;
  if (backend_file == NULL) return 0;
  *(const char**)found = backend_file;
  return 1;
}

static void stop(const char* what, const char* why) {
  fprintf(stderr, "tutti: %s: %s; run without LD_PRELOAD, or link with Tutti's C API\n", what, why);
  abort();
}

static void find_backend(void) {
  const char* file = NULL;
  dl_iterate_phdr(note_backend, &file);
  if (file == NULL) {
    stop("no MPI library that is known here is loaded",
         "the MPI may be linked statically, or be none of MPICH, Intel MPI, Open MPI, MPI ABI");
  }
  tutti_backend_function get = NULL;
  const char* why = NULL;
  backend_library = tutti_open_beside(file, &why);
  if (backend_library == NULL) stop(file, why);
  *(void**)&get = dlsym(backend_library, "tutti_backend");
  if (get == NULL) stop(file, "it is not a backend of this version");
  const struct tutti_backend_interface* found = get();
  if (found->missing() != NULL) stop(found->missing(), "the loaded MPI lacks this function");

  /* Another tool behind this one in line stands for the MPI. */
  struct tutti_functions next;
#define FIND_NEXT(name, arguments) *(void**)&next.name = dlsym(RTLD_NEXT, "MPI_" #name);
  TUTTI_INTERCEPTED_ALL(FIND_NEXT)
  *(void**)&next.Finalize = dlsym(RTLD_NEXT, "MPI_Finalize");
  *(void**)&next.Win_free = dlsym(RTLD_NEXT, "MPI_Win_free");
  found->set_next(&next);
  found->set_front((void*)(uintptr_t)&find_backend);
  if (ending) found->note_end();
  __atomic_store_n(&backend, found, __ATOMIC_RELEASE);
}

/* Who asks for the background thread asks for the thread level that it needs. Programs that call
 * MPI_Init, in whatever language, get it through what Open MPI and MPICH read there; what the user
 * has set stays. */
__attribute__((constructor)) static void raise_thread_level(void) {
  const char* background = getenv("TUTTI_BACKGROUND");
  if (background == NULL || (strcmp(background, "on") != 0 && strcmp(background, "1") != 0)) return;
  setenv("OMPI_MPI_THREAD_LEVEL", "3", 0);
  setenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE", 0);
}

static const struct tutti_backend_interface* get_backend(const void* site) {
  const struct tutti_backend_interface* found = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
  if (found == NULL) {
    pthread_once(&once, find_backend);
    found = __atomic_load_n(&backend, __ATOMIC_ACQUIRE);
  }
  found->set_call_site(site);
  return found;
}

#define PARAMETERS1 tutti_word a
#define PARAMETERS5 PARAMETERS1, tutti_word b, tutti_word c, tutti_word d, tutti_word e
#define PARAMETERS6 PARAMETERS5, tutti_word f
#define PARAMETERS7 PARAMETERS6, tutti_word g
#define PARAMETERS8 PARAMETERS7, tutti_word h
#define PARAMETERS9 PARAMETERS8, tutti_word i
#define ARGUMENTS1 a
#define ARGUMENTS5 ARGUMENTS1, b, c, d, e
#define ARGUMENTS6 ARGUMENTS5, f
#define ARGUMENTS7 ARGUMENTS6, g
#define ARGUMENTS8 ARGUMENTS7, h
#define ARGUMENTS9 ARGUMENTS8, i

/* PMPI_X too: Open MPI's Fortran bindings and tools in front of this one call it. */
#define DEFINE(name, arguments)                                                      \
  EXPORT int MPI_##name(PARAMETERS##arguments);                                      \
  EXPORT int PMPI_##name(PARAMETERS##arguments);                                     \
  int MPI_##name(PARAMETERS##arguments) {                                            \
    return get_backend(__builtin_return_address(0))->run.name(ARGUMENTS##arguments); \
  }                                                                                  \
  int PMPI_##name(PARAMETERS##arguments) {                                           \
    return get_backend(__builtin_return_address(0))->run.name(ARGUMENTS##arguments); \
  }
TUTTI_INTERCEPTED_ALL(DEFINE)

/* The backend's function of the C API that the front exports by the same name. */
static void* api_function(const char* name, void** known, const void* site) {
  get_backend(site);
  void* function = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (function != NULL) return function;
  function = dlsym(backend_library, name);
  if (function == NULL) stop(name, "the backend is not of this version");
  __atomic_store_n(known, function, __ATOMIC_RELAXED);
  return function;
}

#define FIND_API(call, name) \
  static void* known;        \
  *(void**)&(call) = api_function(#name, &known, __builtin_return_address(0));

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

/* A program that has called nothing of the above ends as if Tutti were not there, but for calls
 * that other libraries make as MPI ends. Its MPI is not always next in line: it may have been
 * loaded privately. */
static int finalize(const char* name) {
  tutti_call0 next = NULL;
  ending = 1;
  if (__atomic_load_n(&backend, __ATOMIC_ACQUIRE) == NULL) *(void**)&next = dlsym(RTLD_NEXT, name);
  return next != NULL ? next() : get_backend(NULL)->run.Finalize();
}

EXPORT int MPI_Finalize(void);
EXPORT int PMPI_Finalize(void);
int MPI_Finalize(void) { return finalize("MPI_Finalize"); }
int PMPI_Finalize(void) { return finalize("PMPI_Finalize"); }

/* Before a window goes, the one-sided operations on it are completed: Open MPI tells of it only
 * when it is gone. */
static int free_window(const char* name, tutti_word window) {
  tutti_call1 next = NULL;
  if (__atomic_load_n(&backend, __ATOMIC_ACQUIRE) == NULL) *(void**)&next = dlsym(RTLD_NEXT, name);
  return next != NULL ? next(window) : get_backend(NULL)->run.Win_free(window);
}

EXPORT int MPI_Win_free(tutti_word window);
EXPORT int PMPI_Win_free(tutti_word window);
int MPI_Win_free(tutti_word window) { return free_window("MPI_Win_free", window); }
int PMPI_Win_free(tutti_word window) { return free_window("PMPI_Win_free", window); }
