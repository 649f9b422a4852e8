/* Finds functions in the libraries behind this one. */
#define _GNU_SOURCE
#include "behind.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "run/mpi/loaded_mpi.h"

void* tutti_next_in_line(const char* name) {
  Dl_info own;
  Dl_info found;
  void* next = dlsym(RTLD_NEXT, name);
  if (next == NULL || dladdr((void*)(uintptr_t)&tutti_next_in_line, &own) == 0) return next;
  /* If this library was not preloaded, the next definition may be its own. */
  return dladdr(next, &found) != 0 && found.dli_fbase == own.dli_fbase ? NULL : next;
}

void* tutti_mpi_library(void) {
  const char* path = tutti_find_mpi(NULL).path;
  return path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void* tutti_find_behind(void* mpi, const char* name, const char* other) {
  void* found = tutti_next_in_line(name);
  if (found == NULL && mpi != NULL) found = dlsym(mpi, name);
  return found != NULL || other == NULL ? found : tutti_find_behind(mpi, other, NULL);
}

int tutti_are_together(void* one, void* other) {
  Dl_info of_one;
  Dl_info of_other;
  if (one == NULL || other == NULL) return 1;
  return dladdr(one, &of_one) != 0 && dladdr(other, &of_other) != 0 &&
         of_one.dli_fbase == of_other.dli_fbase;
}
