/// The entry that all collectives of the C API share.
#pragma once

#include <new>
#include <optional>

#include "api/communicator.hpp"
#include "api/environment.hpp"
#include "api/hooks.hpp"
#include "api/report.hpp"
#include "api/report_sites.hpp"
#include "api/selections.hpp"
#include "run/clock.hpp"

namespace tutti {

/// Counts the collectives that this thread is inside of. Inner calls go straight to the MPI, for
/// example those of a tool behind Tutti that forwards a call.
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

/// The functions that stand in for the MPI's own in the current call.
[[nodiscard]] inline const MpiFunctions& native() {
  return Inside::another() ? mpi() : next_functions();
}

/// Calls the program's error handler once, because inner calls run on communicators that return
/// their errors. Returns `error`.
int raise(MPI_Comm comm, int error);
/// The same if there is an error.
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

/// Runs a function of Tutti's own; an error reaches the program's handler.
template <class Function>
int on_comm(MPI_Comm comm, Function function) {
  if (comm == mpi().comm_null) return MPI_ERR_COMM;
  return guarded(comm, [&] { return raise_if(comm, function()); });
}

/// Is this thread freeing the communicator, or MPI ending? Attributes go one by one then, Tutti's
/// too, and MPICH refuses queries for them. Calls meanwhile go to the MPI.
[[nodiscard]] bool is_being_freed(MPI_Comm comm);

/// The site of a call, and its time if the record could not take it later.
struct Arrived {
  const void* site;
  std::optional<double> time;
};

/// Calls `run(Communicator&, Arrived)` if Tutti handles the call, else `run_native()`.
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

/// A record of a call that begins now; make it before anything that may wait for other ranks.
[[nodiscard]] inline CallRecord begin_record(const Communicator& communicator,
                                             const Arrived& entered) {
  CallRecord begun;
  begun.site = entered.site;
  if (communicator.is_reported()) {
    begun.site = program_site(entered.site);
    begun.arrival = entered.time ? *entered.time : monotonic_seconds();
  }
  return begun;
}

/// Notes the predictions for the call that this rank has reached.
inline void note_prediction(const Arrival& arrival, CallRecord& record) {
  const CallPrediction prediction = arrival.prediction_of_call();
  record.ahead = prediction.ahead;
  record.progress_hint = prediction.progress_hint;
}

/// Keeps a record of a call that ends now. `describe(record)` adds its root and sizes.
template <class Describe>
void keep_record(Collective collective, const Communicator& communicator, CallRecord record,
                 Describe describe) {
  record.collective = collective;
  record.communicator = communicator.agreement().id;
  record.rank = communicator.rank();
  record.p = communicator.p();
  record.exit = monotonic_seconds();
  describe(record);
  record_call(record);
}

/// Runs a decision, and keeps a record of it if a report is requested. `run` notes what runs
/// instead, if it deviates.
template <class Run, class Describe>
int reported(Collective collective, Communicator& communicator, const Decision& decision,
             CallRecord begun, Run run, Describe describe) {
  communicator.note_algorithm(collective, decision.text);
  const auto run_to_end = [&] {
    const int error = run();
    communicator.selections().tuned.end_call();
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
  if (begun.decision->starts_with(decision.text)) begun.measured = decision.measured;
  if (error == MPI_SUCCESS) keep_record(collective, communicator, begun, describe);
  return error;
}

}  // namespace tutti
