/// Completes the one-sided operations on a window before it is freed.
#include <mutex>

#include "api/rma.hpp"

namespace tutti {

namespace {

/// Set while this thread replaces an earlier attribute, which the MPI then deletes.
thread_local bool is_replacing = false;

/// The MPI calls this if its MPI_Win_free was not called through Tutti: MPICH before anything else,
/// Open MPI once the window can no longer be used.
int free_with_window(MPI_Win handle, int, void* attribute, void*) {
  if (is_replacing) return MPI_SUCCESS;
  int number = 0;
  const auto owner = owner_of_handle(handle, number);
  if (owner == nullptr || attribute != &owner->system()) return MPI_SUCCESS;
#if defined(OPEN_MPI)
  owner->system().lose_window(number);
  return MPI_SUCCESS;
#else
  return owner->system().remove_window(number);
#endif
}

int copy_nothing(MPI_Win, int, void*, void*, void*, int* copies) {
  *copies = 0;
  return MPI_SUCCESS;
}

}  // namespace

int watch(MPI_Win handle, RmaSystem& system) {
  static std::mutex making;
  static int keyval = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(making);
  if (keyval == MPI_KEYVAL_INVALID) {
    const int error = mpi().Win_create_keyval(copy_nothing, free_with_window, &keyval, nullptr);
    if (error != MPI_SUCCESS) return error;
  }
  is_replacing = true;
  const int error = mpi().Win_set_attr(handle, keyval, &system);
  is_replacing = false;
  return error;
}

void release_window(MPI_Win window) {
  int number = 0;
  if (const auto owner = owner_of_handle(window, number)) owner->system().remove_window(number);
}

}  // namespace tutti
