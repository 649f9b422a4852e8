/// The way into the library that all collectives of the C API have in common.
#pragma once

#include <new>
#include <optional>

#include "api/communicator.hpp"
#include "api/environment.hpp"
#include "api/hooks.hpp"
#include "api/report.hpp"
#include "run/clock.hpp"

namespace tutti {

/// How many collectives this thread is inside of. Inner calls, such as those of a tool behind
/// Tutti that hands on what it was given, go straight to the MPI.
class Inside {
 public:
  Inside() { ++depth_; }
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] static bool another() { return depth_ > 1; }

 private:
  inline static constinit thread_local int depth_ = 0;
};

/// What stands for the MPI in the call under way.
[[nodiscard]] const NativeFunctions& native();

/// Errors of inner calls come from a communicator that returns them; the program's own error
/// handler hears of them here, once. Returns `error`.
int raise(MPI_Comm comm, int error);
/// The same for what may be no error.
inline int raise_if(MPI_Comm comm, int error) {
  return error == MPI_SUCCESS ? error : raise(comm, error);
}

/// No exception leaves the library.
template <class Function>
int guarded(MPI_Comm comm, Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return raise(comm, MPI_ERR_NO_MEM);
  } catch (...) {
    return raise(comm, MPI_ERR_INTERN);
  }
}

/// Does this thread free the communicator, or does MPI end? Its attributes go one after the other
/// then, Tutti's too, and MPICH can no longer be asked for any: what is called meanwhile is left to
/// the MPI.
[[nodiscard]] bool is_being_freed(MPI_Comm comm);

/// Where a call came from, and when, if that had to be noted early.
struct Arrived {
  const void* site;
  std::optional<double> time;
};

/// Calls `run(Communicator&, Arrived)` where Tutti has a part in the call, else `run_native()`.
template <class Native, class Run>
int enter(Collective collective, MPI_Comm comm, Native run_native, Run run) {
  const void* site = take_call_site();
  const Inside guard;
  if (!Inside::another() && Communicator::hands_on(comm, collective)) {
    return guarded(comm, run_native);
  }
  return guarded(comm, [&] {
    if (Inside::another() || !environment().on || comm == mpi().comm_null || is_being_freed(comm)) {
      return run_native();
    }
    Arrived arrived{site, {}};
    Communicator* communicator = Communicator::known(comm);
    if (communicator == nullptr) {
      arrived.time = monotonic_seconds();  // what follows may wait for other ranks
      int error = MPI_SUCCESS;
      communicator = Communicator::of(comm, error);
      if (communicator == nullptr) return raise(comm, error);
    }
    if (communicator->is_inter()) return run_native();
    communicator->look_again();
    return run(*communicator, arrived);
  });
}

/// A record of a call that begins now; to be made before anything that may wait for other ranks.
[[nodiscard]] inline CallRecord begin_record(const Communicator& communicator,
                                             const Arrived& noted) {
  CallRecord begun;
  begun.site = noted.site;
  if (communicator.is_reported()) begun.arrival = noted.time ? *noted.time : monotonic_seconds();
  return begun;
}

/// What was expected of the call that this rank has come to.
inline void note_prediction(const Arrival& arrival, CallRecord& record) {
  const CallPrediction prediction = arrival.prediction_of_call();
  record.ahead = prediction.ahead;
  record.progress_hint = prediction.progress_hint;
}

/// Keeps a record of a call that ends now: `describe(record)` fills in what its arguments tell.
template <class Describe>
void keep_record(Collective collective, const Communicator& communicator, CallRecord record,
                 Describe describe) {
  record.collective = collective;
  record.communicator = communicator.id();
  record.rank = communicator.rank();
  record.p = communicator.p();
  record.exit = monotonic_seconds();
  describe(record);
  record_call(record);
}

/// Runs what was decided, and keeps a record of it where a report is asked for. `run` notes what
/// runs instead of it.
template <class Run, class Describe>
int reported(Collective collective, Communicator& communicator, const Decision& decision,
             CallRecord begun, Run run, Describe describe) {
  communicator.note_algorithm(collective, decision.text);
  const auto run_to_end = [&] {
    const int error = run();
    communicator.end_hierarchical_call();
    return error;
  };
  if (!communicator.is_reported()) {
    const int error = run_to_end();
    communicator.let_pass(decision, collective);
    return error;
  }
  begun.call = communicator.next_call(collective);
  if (const auto& known = communicator.arrival()) note_prediction(*known, begun);
  const int error = run_to_end();
  begun.decision = &communicator.last(collective);
  if (error == MPI_SUCCESS) keep_record(collective, communicator, begun, describe);
  return error;
}

}  // namespace tutti
