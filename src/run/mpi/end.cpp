/// Finds out which library receives the program's calls of MPI_Finalize.
#include "run/mpi/end.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "run/background.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"

namespace tutti {

namespace {

/// An address in the front, if this program's calls have come through it.
std::atomic<const void*> the_front = nullptr;
std::atomic<bool> has_ended = false;

/// The start of the object that contains an address, or null.
const void* object_of(const void* address) {
  Dl_info found{};
  return address != nullptr && dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

/// The object whose symbol of this name the program uses, however it loaded its MPI.
const void* provider_of(const char* name) {
  void* global_scope = dlopen(nullptr, RTLD_LAZY);
  const void* provider = object_of(dlsym(global_scope, name));
  dlclose(global_scope);
  return provider;
}

bool comes_to_tutti() {
  const void* provider = provider_of("PMPI_Finalize");
  if (provider == nullptr) return false;
  if (provider != object_of(&has_ended) && provider != object_of(the_front)) return false;
  // Another tool may be in line before Tutti: it calls PMPI_Finalize.
  const void* mpis = nullptr;
  std::memcpy(&mpis, &mpi().Finalize, sizeof mpis);
  return provider_of("MPI_Finalize") != object_of(mpis);
}

}  // namespace

void note_front(const void* address) { the_front = address; }

bool note_end_of_mpi() { return !has_ended.exchange(true); }

bool is_end_of_mpi() { return has_ended; }

bool start_thread() {
  if (has_ended || !has_world()) return false;
  if (ends_locks_before_attributes() && !comes_to_tutti()) return false;
  int level = MPI_THREAD_SINGLE;
  mpi().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE && Background::of_process().start();
}

}  // namespace tutti
