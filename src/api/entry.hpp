/// What all functions of the C API share: errors, and calls inside calls.
#pragma once

#include <new>

#include "api/communicator.hpp"
#include "api/hooks.hpp"
#include "api/selections.hpp"

namespace tutti {

/// The calls that this thread is inside of.
struct CallDepth {
  /// Inner ones go straight to the MPI, for example those of a tool behind Tutti that forwards a
  /// call.
  int collectives = 0;
  /// PMPI functions. Where a tool is behind Tutti, what these leave to the MPI does not go to it.
  int profiled = 0;
};
inline constinit thread_local CallDepth call_depth;

/// Counts a collective while it runs.
class Inside : NotCopied {
 public:
  Inside() { ++call_depth.collectives; }
  ~Inside() { --call_depth.collectives; }

  [[nodiscard]] static bool another() { return call_depth.collectives > 1; }
};

/// Ends the outermost of these calls for as long as functions of others run, if `ends`: what the
/// program calls in its error handlers, and where attributes are deleted, counts as any call of its
/// own, as it does in calls that the preloaded library hands on itself.
class Outside : NotCopied {
 public:
  explicit Outside(bool ends) : before_(call_depth) {
    if (ends) call_depth = {Inside::another() ? before_.collectives : 0, 0};
  }
  ~Outside() { call_depth = before_; }

 private:
  CallDepth before_;
};

/// The functions that stand in for the MPI's own in the current call.
[[nodiscard, gnu::always_inline]] inline const MpiFunctions& native() {
  if (Inside::another() || call_depth.profiled > 0) return mpi();
  const MpiFunctions* const next = this_process.next.load(std::memory_order_acquire);
  return next != nullptr ? *next : next_functions();
}

/// Calls the program's error handler once, because inner calls run on communicators that return
/// their errors. Returns `error`.
int raise(MPI_Comm comm, int error);
/// The same if there is an error.
inline int raise_if(MPI_Comm comm, int error) {
  return error == MPI_SUCCESS ? error : raise(comm, error);
}

/// Does Tutti's own work, which throws nothing but std::bad_alloc. Returns its error code.
/// Functions of the program, such as its error handler, may throw anything and free the
/// communicator: call these, raise() and the MPI's own collectives outside.
template <class Function>
int contained(Function work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

/// Runs a function of Tutti's own; an error reaches the program's handler.
template <class Function>
int on_comm(MPI_Comm comm, Function function) {
  return comm == mpi().comm_null ? MPI_ERR_COMM : raise_if(comm, contained(function));
}

/// MPI_ERR_COMM for an inter-communicator, MPI_SUCCESS for others.
inline int check_intra(MPI_Comm comm) {
  int inter = 0;
  const int error = mpi().Comm_test_inter(comm, &inter);
  return inter != 0 ? MPI_ERR_COMM : error;
}

/// Makes a call by `run(is_native)`, and by `run_native()` if that sets `is_native`. Then calls
/// `end(error)` with the error code of what has run. `run` and `end` are Tutti's own work. An error
/// has reached the program's handler, once.
template <class Run, class Native, class End>
int run_or_native(MPI_Comm comm, const Run& run, const Native& run_native, const End& end) {
  bool is_native = false;
  const int error = contained([&] { return run(is_native); });
  const int native = is_native ? run_native() : MPI_SUCCESS;
  const int ended = contained([&] {
    end(is_native ? native : error);
    return MPI_SUCCESS;
  });
  if (native != MPI_SUCCESS) return native;
  return raise_if(comm, is_native || error == MPI_SUCCESS ? ended : error);
}

/// Is this thread freeing the communicator, or MPI ending? Attributes go one by one then, Tutti's
/// too, and MPICH refuses queries for them. Calls meanwhile go to the MPI.
[[nodiscard]] bool is_being_freed(MPI_Comm comm);

}  // namespace tutti
