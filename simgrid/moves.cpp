/// Functions of the C library that map and move memory, in each rank's copy of Tutti: the linker's
/// --wrap puts them before the system's.
#include <sys/mman.h>

#include <cstddef>

#include "simgrid/node_memory.h"

extern "C" {

void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t at);
int __real_munmap(void* address, std::size_t bytes);
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);

void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t at) {
  void* const mapped = __real_mmap(address, bytes, protection, flags, file, at);
  if (mapped != MAP_FAILED && (flags & MAP_SHARED) != 0) tutti_simgrid_share(mapped, bytes);
  return mapped;
}

int __wrap_munmap(void* address, std::size_t bytes) {
  tutti_simgrid_unshare(address, bytes);
  return __real_munmap(address, bytes);
}

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  tutti_simgrid_move(from, to, bytes);
  return __real_memcpy(to, from, bytes);
}

void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  tutti_simgrid_move(from, to, bytes);
  return __real_memmove(to, from, bytes);
}

}  // extern "C"
