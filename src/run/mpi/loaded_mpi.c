/* Finds the MPI that the process has loaded, by the sonames of its libraries. */
#define _GNU_SOURCE
#include "run/mpi/loaded_mpi.h"

#include <fnmatch.h>
#include <link.h>
#include <string.h>

/* Backends by the file name of their MPI library, which may continue with further version numbers.
 * Cray's MPICH has one library for each compiler. */
static const struct {
  const char* libmpi;
  const char* backend;
} backends[] = {
    {"libmpi.so.@(40|80)?(.*)", "libtutti-openmpi.so"},
    {"libmpi_abi.so.[01]?(.*)", "libtutti-mpiabi.so"},
    {"@(libmpi|libmpich).so.12?(.*)", "libtutti-mpich.so"},
    {"libmpi_@(cray|gnu|amd|aocc|intel|nvidia)*(?(_)+([0-9])).so.12?(.*)", "libtutti-mpich.so"},
};

static const char* file_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static const char* backend_for(const char* file) {
  for (size_t i = 0; i < sizeof backends / sizeof backends[0]; ++i) {
    if (fnmatch(backends[i].libmpi, file, FNM_EXTMATCH) == 0) return backends[i].backend;
  }
  return NULL;
}

/* The soname of a loaded object, or NULL. File names are unreliable: they may be links without a
 * version, or copies in wheels. */
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

/* `wanted` has the backend to look for, or NULL, and becomes what is found. */
static int note_mpi(struct dl_phdr_info* object, size_t size, void* wanted) {
  (void)size;
  struct tutti_loaded_mpi* found = wanted;
  if (strncmp(file_of(object->dlpi_name), "libmpi", strlen("libmpi")) != 0) return 0;
  const char* soname = soname_of(object);
  const char* backend = soname != NULL ? backend_for(soname) : NULL;
  if (backend == NULL) return 0;
  if (found->backend != NULL && strcmp(found->backend, backend) != 0) return 0;
  *found = (struct tutti_loaded_mpi){object->dlpi_name, backend};
  return 1;
}

struct tutti_loaded_mpi tutti_find_mpi(const char* backend) {
  struct tutti_loaded_mpi found = {NULL, backend};
  return dl_iterate_phdr(note_mpi, &found) != 0 ? found : (struct tutti_loaded_mpi){NULL, NULL};
}
