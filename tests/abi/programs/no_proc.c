/* For preloading: makes descriptors of other processes inaccessible, as from another container.
 * Counts the allocated pages of files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

long allocated_pages;

int stat(const char* path, struct stat* found) {
  int (*next)(const char*, struct stat*) = NULL;
  if (strncmp(path, "/proc/", strlen("/proc/")) == 0 && strstr(path, "/fd/") != NULL) {
    errno = EACCES;
    return -1;
  }
  *(void**)&next = dlsym(RTLD_NEXT, "stat");
  return next(path, found);
}

static long pages_of(int file) {
  struct stat found;
  return fstat(file, &found) == 0 ? found.st_blocks * 512 / sysconf(_SC_PAGESIZE) : 0;
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  int (*next)(int, off_t, off_t) = NULL;
  const char* const most = getenv("NO_PROC_BYTES");
  if (most != NULL && offset + bytes > atol(most)) return ENOSPC;
  *(void**)&next = dlsym(RTLD_NEXT, "posix_fallocate");
  const long before = pages_of(file);
  const int error = next(file, offset, bytes);
  allocated_pages += pages_of(file) - before;
  return error;
}
