/// The functions that stand in for the MPI, and Tutti's own MPI_Finalize and functions that free
/// communicators and windows: of the front, and for programs that link this library before their
/// MPI. One-sided operations on a window are completed before it is freed.
#include <dlfcn.h>
#include <tutti/tutti.h>

#include <mutex>
#include <utility>

#include "api/entry.hpp"
#include "api/rma.hpp"
#include "run/mpi/end.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

/// Communicators or windows that this thread is freeing; the delete functions of attributes may
/// free others.
template <class Handle>
class Freeing : NotCopied {
 public:
  explicit Freeing(Handle handle) : handle_(handle), outer_(innermost_) { innermost_ = this; }
  ~Freeing() { innermost_ = outer_; }

  [[nodiscard]] static bool has(Handle handle) {
    const Freeing* one = innermost_;
    while (one != nullptr && one->handle_ != handle) one = one->outer_;
    return one != nullptr;
  }

 private:
  inline static constinit thread_local const Freeing* innermost_ = nullptr;
  Handle handle_;
  const Freeing* outer_;
};

/// Set while this thread replaces an earlier attribute, which the MPI then deletes.
thread_local bool is_replacing = false;

/// The MPI calls this if its MPI_Win_free was not called through Tutti: MPICH before anything else,
/// Open MPI once the window can no longer be used.
int free_with_window(MPI_Win handle, int, void* attribute, void*) {
  if (is_replacing) return MPI_SUCCESS;
  return contained([&] {
    int number = 0;
    const auto owner = owner_of_handle(handle, number);
    if (owner == nullptr || attribute != &owner->system()) return MPI_SUCCESS;
#if defined(OPEN_MPI)
    owner->system().lose_window(number);
    return MPI_SUCCESS;
#else
    return owner->system().remove_window(number);
#endif
  });
}

int copy_no_window(MPI_Win, int, void*, void*, void*, int* copies) {
  *copies = 0;
  return MPI_SUCCESS;
}

/// Completes a registered window's operations and releases it; does nothing for other windows.
/// Collective, before MPI_Win_free; drops errors.
void release_window(MPI_Win window) {
  int number = 0;
  if (const auto owner = owner_of_handle(window, number)) owner->system().remove_window(number);
}

/// The function of the next library that defines it.
template <class Function>
Function next_in_line(const char* name, Function of_mpi) {
  const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return next != nullptr ? next : of_mpi;
}

// Each calls `next` after Tutti's own clean-up. A tool behind the front forwards the call to the
// front's PMPI_ function: then `of_mpi` runs.

int free_comm_by(int (*next)(MPI_Comm*), int (*of_mpi)(MPI_Comm*), MPI_Comm* comm) {
  if (comm == nullptr || Freeing<MPI_Comm>::has(*comm)) return of_mpi(comm);
  // Some MPIs keep a communicator, with its attributes, until all operations on it end at this
  // rank, while other ranks delete theirs: what waits for all ranks ends before.
  if (*comm != mpi().comm_null) {
    Communicator* const communicator = Communicator::known(*comm);
    if (communicator != nullptr) attempt([&] { communicator->end_exchanges(); });
  }
  const Freeing freeing(*comm);
  const Outside outside(true);
  return next(comm);
}

int free_window_by(int (*next)(MPI_Win*), int (*of_mpi)(MPI_Win*), MPI_Win* window) {
  if (window == nullptr || Freeing<MPI_Win>::has(*window)) return of_mpi(window);
  attempt([&] { release_window(*window); });
  const Freeing freeing(*window);
  const Outside outside(true);
  return next(window);
}

/// The MPI refuses an invalid call of MPI_Finalize.
int finalize_by(int (*next)(), int (*of_mpi)()) {
  static bool entered = false;
  int finalized = 0;
  mpi().Finalized(&finalized);
  if (has_world() && finalized == 0) prepare_end_of_mpi();
  const Outside outside(true);
  return std::exchange(entered, true) ? of_mpi() : next();
}

}  // namespace

int watch(MPI_Win handle, RmaSystem& system) {
  static std::mutex making;
  static int keyval = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(making);
  if (keyval == MPI_KEYVAL_INVALID) {
    const int error = mpi().Win_create_keyval(copy_no_window, free_with_window, &keyval, nullptr);
    if (error != MPI_SUCCESS) return error;
  }
  is_replacing = true;
  const int error = mpi().Win_set_attr(handle, keyval, &system);
  is_replacing = false;
  return error;
}

MpiFunctions& next_functions() {
  static MpiFunctions functions = mpi();
  this_process.next.store(&functions, std::memory_order_release);
  return functions;
}

int raise(MPI_Comm comm, int error) {
  const Outside outside(true);
  if (comm != mpi().comm_null) mpi().Comm_call_errhandler(comm, error);
  return error;
}

void set_recent(tutti_recent* recent) {
  this_process.recent.store(recent, std::memory_order_release);
}

bool is_being_freed(MPI_Comm comm) { return is_end_of_mpi() || Freeing<MPI_Comm>::has(comm); }

}  // namespace tutti

// The hook (hooks.hpp), and the functions for programs that link this library before their MPI.
#define TUTTI_VISIBLE __attribute__((visibility("default")))
#define TUTTI_INTERPOSED(function, hook, ends, parameters, ...)                \
  int tutti::hook parameters {                                                 \
    return ends(native().function, mpi().function __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                            \
  TUTTI_VISIBLE int MPI_##function parameters {                                \
    using namespace tutti;                                                     \
    return ends(next_in_line("MPI_" #function, mpi().function),                \
                mpi().function __VA_OPT__(, ) __VA_ARGS__);                    \
  }                                                                            \
  TUTTI_VISIBLE int PMPI_##function parameters {                               \
    using namespace tutti;                                                     \
    return ends(mpi().function, mpi().function __VA_OPT__(, ) __VA_ARGS__);    \
  }

TUTTI_INTERPOSED(Finalize, finalize_mpi, finalize_by, ())
TUTTI_INTERPOSED(Win_free, free_window, free_window_by, (MPI_Win * window), window)
TUTTI_INTERPOSED(Comm_free, free_comm, free_comm_by, (MPI_Comm * comm), comm)
TUTTI_INTERPOSED(Comm_disconnect, disconnect_comm, free_comm_by, (MPI_Comm * comm), comm)
