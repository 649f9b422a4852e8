/// Replaces polling by blocking: a rank that polled in simulated time would either be late to
/// notice a message or cost the simulator an event for each poll.
#include "simgrid/waiting.h"

#include <mpi.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <utility>

#include "simgrid/behind.hpp"
#include "simgrid/polling.hpp"

using tutti::simgrid::behind;
using tutti::simgrid::Completed;
using tutti::simgrid::Plug;
using tutti::simgrid::Polling;
using tutti::simgrid::status_at;

namespace {

/// The ranks that wait for a signal. Suspending an actor would do, but SimGrid 3.32 then suspends
/// its latest message too.
struct Waiting {
  sg_sem_t raised = sg_sem_init(0);
  int ranks = 0;
};

/// The ranks of a host map a signal at different addresses, which are equally far from the start of
/// a page.
Waiting& waiting_for(const void* signal) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  static std::map<std::pair<sg_host_t, std::uintptr_t>, Waiting> all;
  return all[{sg_host_self(), reinterpret_cast<std::uintptr_t>(signal) % page}];
}

}  // namespace

#define TUTTI_EXPORT __attribute__((visibility("default")))

extern "C" {

TUTTI_EXPORT void tutti_simgrid_yield(void) { Polling::of_rank().yield(); }

TUTTI_EXPORT void tutti_simgrid_wait_for(const void* signal) {
  Waiting& waiting = waiting_for(signal);
  ++waiting.ranks;
  sg_sem_acquire(waiting.raised);
  Polling::of_rank().forget_tests();
}

TUTTI_EXPORT void tutti_simgrid_raise(const void* signal) {
  Waiting& waiting = waiting_for(signal);
  for (int ranks = std::exchange(waiting.ranks, 0); ranks > 0; --ranks) {
    sg_sem_release(waiting.raised);
  }
}

TUTTI_EXPORT int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static const auto test = behind<decltype(&PMPI_Test)>("PMPI_Test");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  *flag = 1;
  if (own.take(*request, status, error)) return error;
  if (*request == MPI_REQUEST_NULL) {
    own.forget_requests();  // a rank that polls further requests does not wait for one
    MPI_Status empty;       // where the status is ignored, SimGrid 3.32 sets no flag
    return test(request, flag, status == MPI_STATUS_IGNORE ? &empty : status);
  }
  *flag = 0;
  if (own.repeats_latest(request, 1)) return MPI_SUCCESS;
  if (!own.skips(__builtin_return_address(0))) error = test(request, flag, status);
  own.note_test(*flag != 0, request, 1);
  return error;
}

TUTTI_EXPORT int PMPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto test = behind<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  *completed = own.take_some(count, requests, indices, statuses, error);
  if (*completed != 0 || own.repeats_latest(requests, count)) return error;
  if (!own.skips(__builtin_return_address(0))) {
    error = test(count, requests, completed, indices, statuses);
  }
  own.note_test(*completed != 0, requests, count);
  return error;
}

/// Keeps what has completed until all have.
TUTTI_EXPORT int PMPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  static const auto test = behind<decltype(&PMPI_Test)>("PMPI_Test");
  Polling& own = Polling::of_rank();
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Request request = requests[i];
    if (request == MPI_REQUEST_NULL || own.find(request) != nullptr) continue;
    if (own.repeats_latest(&requests[i], 1)) return MPI_SUCCESS;
    int is_done = 0;
    MPI_Status status{};
    Plug plug(request);
    const int error = test(&request, &is_done, &status);
    if (is_done == 0) {
      own.note_test(false, &requests[i], 1);
      return error;
    }
    const bool is_inactive = request != MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE &&
                             status.MPI_TAG == MPI_ANY_TAG;
    if (is_inactive) continue;
    own.keep(requests[i], {request, status, error, std::move(plug)});
  }
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    int one = MPI_SUCCESS;
    MPI_Status* const status = status_at(statuses, i);
    // A null request has an empty status.
    if (!own.take(requests[i], status, one)) test(&requests[i], flag, status);
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
  }
  *flag = 1;
  return error;
}

TUTTI_EXPORT int PMPI_Testany(int count, MPI_Request* requests, int* which, int* flag,
                              MPI_Status* status) {
  static const auto test = behind<decltype(&PMPI_Testany)>("PMPI_Testany");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  *which = own.take_one(count, requests, status, error);
  *flag = *which == MPI_UNDEFINED ? 0 : 1;
  if (*flag != 0 || own.repeats_latest(requests, count)) return error;
  if (!own.skips(__builtin_return_address(0))) error = test(count, requests, which, flag, status);
  own.note_test(*flag != 0, requests, count);
  return error;
}

// A program may wait for what it has tested in vain together with others.

TUTTI_EXPORT int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Wait)>("PMPI_Wait");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  own.forget_tests();
  return own.take(*request, status, error) ? error : wait(request, status);
}

TUTTI_EXPORT int PMPI_Waitany(int count, MPI_Request* requests, int* which, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  own.forget_tests();
  *which = own.take_one(count, requests, status, error);
  return *which == MPI_UNDEFINED ? wait(count, requests, which, status) : error;
}

TUTTI_EXPORT int PMPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitsome)>("PMPI_Waitsome");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  own.forget_tests();
  *completed = own.take_some(count, requests, indices, statuses, error);
  return *completed > 0 ? error : wait(count, requests, completed, indices, statuses);
}

TUTTI_EXPORT int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitall)>("PMPI_Waitall");
  Polling& own = Polling::of_rank();
  own.forget_tests();
  if (!own.has_completed()) return wait(count, requests, statuses);
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    MPI_Status* const status = status_at(statuses, i);
    const int one = PMPI_Wait(&requests[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = one;
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
  }
  return error;
}

// What else takes a request that may have completed.

TUTTI_EXPORT int PMPI_Request_free(MPI_Request* request) {
  static const auto free = behind<decltype(&PMPI_Request_free)>("PMPI_Request_free");
  Polling& own = Polling::of_rank();
  int error = MPI_SUCCESS;
  own.forget_tests();
  const bool is_taken = own.take(*request, MPI_STATUS_IGNORE, error);
  return is_taken && *request == MPI_REQUEST_NULL ? MPI_SUCCESS : free(request);
}

TUTTI_EXPORT int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  static const auto get = behind<decltype(&PMPI_Request_get_status)>("PMPI_Request_get_status");
  const Completed* const found = Polling::of_rank().find(request);
  if (found == nullptr) return get(request, flag, status);
  *flag = 1;
  if (status != MPI_STATUS_IGNORE) *status = found->status;
  return MPI_SUCCESS;
}

TUTTI_EXPORT int PMPI_Cancel(MPI_Request* request) {
  static const auto cancel = behind<decltype(&PMPI_Cancel)>("PMPI_Cancel");
  Polling& own = Polling::of_rank();
  own.forget_tests();
  return own.find(*request) != nullptr ? MPI_SUCCESS : cancel(request);
}

/// A test of a persistent request that is not active completes it.
TUTTI_EXPORT int PMPI_Start(MPI_Request* request) {
  static const auto start = behind<decltype(&PMPI_Start)>("PMPI_Start");
  Polling& own = Polling::of_rank();
  own.forget_tests();
  own.drop(*request);
  return start(request);
}

TUTTI_EXPORT int PMPI_Startall(int count, MPI_Request* requests) {
  static const auto start = behind<decltype(&PMPI_Startall)>("PMPI_Startall");
  Polling& own = Polling::of_rank();
  own.forget_tests();
  for (int i = 0; i < count; ++i) own.drop(requests[i]);
  return start(count, requests);
}

}  // extern "C"
