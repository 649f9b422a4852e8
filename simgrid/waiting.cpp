/// Replaces polling by blocking: a rank that polled in simulated time would either be late to
/// notice a message or cost the simulator an event for each poll.
#include "simgrid/waiting.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simgrid/behind.hpp"

using tutti::simgrid::behind;

namespace {

/// A request that completed while a copy of its handle was tested or waited for.
struct Completed {
  MPI_Request handle;  ///< as the MPI left the copy: null, or still that of a persistent request
  MPI_Status status;
};

/// What a rank has tested since it last waited, and what has completed since.
struct Polling {
  MPI_Request* requests = nullptr;  ///< of the latest test in vain; null if there was none
  int count = 0;
  int tests = 0;         ///< different ones in vain since the rank last waited
  double at = -1;        ///< simulated seconds of the latest test
  int repeats = 0;       ///< of that test, at the same time
  int yields = 0;        ///< without any test, one after the other
  bool skipped = false;  ///< the latest test was not passed on to SimGrid
  std::map<MPI_Request, Completed> completed;  ///< until a test or a wait reports it
};

constexpr int free_repeats = 10'000;   ///< tests in vain that take no simulated time
constexpr int free_yields = 1'000;     ///< yields without tests that take no simulated time
constexpr double shortest_nap = 1e-7;  ///< seconds
constexpr double longest_nap = 1e-4;

Polling& polling() {
  static std::unordered_map<aid_t, Polling> all;
  return all[sg_actor_self_get_pid()];
}

/// Sleeps for longer the more often the rank has come here in vain.
void nap(int times) { sg_actor_sleep_for(std::min(longest_nap, shortest_nap * (1 + times))); }

/// Whether this test equals the latest one and no time has passed: the result is the same.
bool repeats_latest(Polling& own, const MPI_Request* requests, int count) {
  if (own.requests != requests || own.count != count || own.at != simgrid_get_clock()) return false;
  if (++own.repeats % free_repeats == 0) {
    nap(own.repeats / free_repeats);
    return false;
  }
  return true;
}

void note_in_vain(Polling& own, MPI_Request* requests, int count) {
  if (own.requests != requests || own.count != count) {
    ++own.tests;
    own.repeats = 0;
  }
  own.requests = requests;
  own.count = count;
  own.at = simgrid_get_clock();
}

void forget_tests(Polling& own) {
  own.requests = nullptr;
  own.tests = 0;
  own.repeats = 0;
  own.yields = 0;
  own.skipped = false;
}

/// Whether to report that nothing has completed, without asking. A rank that tests in vain waits
/// next, and the wait reports what has completed by then at the same time. SimGrid 3.32 keeps every
/// message that a test completes in a list until the rank ends, and searches the list at each
/// further message, so that p messages of each rank take O(p^3) steps; a wait removes them.
/// Programs may test without waiting, and so may Tutti: never two tests in succession.
bool skips(Polling& own, const void* caller) {
  own.skipped = !own.skipped && !tutti::simgrid::is_in_simgrid(caller);
  return own.skipped;
}

/// Blocks until one of the latest test's requests completes, and keeps the result for the next.
void wait_for_tested(Polling& own) {
  std::vector<MPI_Request> copies(own.requests, own.requests + own.count);
  const MPI_Request* const tested = own.requests;
  forget_tests(own);
  int index = MPI_UNDEFINED;
  MPI_Status status{};
  const int error = PMPI_Waitany(static_cast<int>(copies.size()), copies.data(), &index, &status);
  if (index == MPI_UNDEFINED) {
    own.skipped = true;
    return;
  }
  status.MPI_ERROR = error;
  own.completed[tested[index]] = {copies[static_cast<std::size_t>(index)], status};
}

/// Reports a request that has completed before, if it has.
bool take_completed(Polling& own, MPI_Request& request, MPI_Status* status) {
  const auto found = own.completed.find(request);
  if (found == own.completed.end()) return false;
  if (status != MPI_STATUS_IGNORE) *status = found->second.status;
  request = found->second.handle;
  own.completed.erase(found);
  return true;
}

/// The same for the first of several; MPI_UNDEFINED if there is none.
int take_one_completed(Polling& own, int count, MPI_Request* requests, MPI_Status* status) {
  for (int i = 0; i < count && !own.completed.empty(); ++i) {
    if (take_completed(own, requests[i], status)) return i;
  }
  return MPI_UNDEFINED;
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/// The same for all of several that have completed. Returns their number.
int take_some_completed(Polling& own, int count, MPI_Request* requests, int* indices,
                        MPI_Status* statuses) {
  int taken = 0;
  for (int i = 0; i < count && !own.completed.empty(); ++i) {
    if (take_completed(own, requests[i], status_at(statuses, taken))) indices[taken++] = i;
  }
  return taken;
}

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

TUTTI_EXPORT void tutti_simgrid_yield(void) {
  Polling& own = polling();
  if (own.tests == 1) return wait_for_tested(own);
  if (own.tests == 0 && own.yields < free_yields) {
    ++own.yields;
    return sg_actor_yield();
  }
  const int times = ++own.yields;
  own.requests = nullptr;
  own.tests = 0;
  nap(times);
}

TUTTI_EXPORT void tutti_simgrid_wait_for(const void* signal) {
  Waiting& waiting = waiting_for(signal);
  ++waiting.ranks;
  sg_sem_acquire(waiting.raised);
  forget_tests(polling());
}

TUTTI_EXPORT void tutti_simgrid_raise(const void* signal) {
  Waiting& waiting = waiting_for(signal);
  for (int ranks = std::exchange(waiting.ranks, 0); ranks > 0; --ranks) {
    sg_sem_release(waiting.raised);
  }
}

TUTTI_EXPORT int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static const auto test = behind<decltype(&PMPI_Test)>("PMPI_Test");
  Polling& own = polling();
  *flag = 1;
  if (take_completed(own, *request, status)) return MPI_SUCCESS;
  *flag = 0;
  if (repeats_latest(own, request, 1)) return MPI_SUCCESS;
  const bool skip = skips(own, __builtin_return_address(0));
  const int error = skip ? MPI_SUCCESS : test(request, flag, status);
  if (*flag != 0) {
    forget_tests(own);
  } else {
    note_in_vain(own, request, 1);
  }
  return error;
}

TUTTI_EXPORT int PMPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto test = behind<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  Polling& own = polling();
  *completed = take_some_completed(own, count, requests, indices, statuses);
  if (*completed != 0 || repeats_latest(own, requests, count)) return MPI_SUCCESS;
  const bool skip = skips(own, __builtin_return_address(0));
  const int error = skip ? MPI_SUCCESS : test(count, requests, completed, indices, statuses);
  if (*completed != 0) {
    forget_tests(own);
  } else {
    note_in_vain(own, requests, count);
  }
  return error;
}

/// Keeps what has completed until all have.
TUTTI_EXPORT int PMPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  static const auto test = behind<decltype(&PMPI_Test)>("PMPI_Test");
  Polling& own = polling();
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Request request = requests[i];
    if (request == MPI_REQUEST_NULL || own.completed.contains(request)) continue;
    if (repeats_latest(own, &requests[i], 1)) return MPI_SUCCESS;
    int is_done = 0;
    MPI_Status status;
    if (const int error = test(&request, &is_done, &status)) return error;
    if (is_done == 0) {
      note_in_vain(own, &requests[i], 1);
      return MPI_SUCCESS;
    }
    forget_tests(own);
    own.completed[requests[i]] = {request, status};
  }
  for (int i = 0; i < count; ++i) {
    MPI_Status* const status = status_at(statuses, i);
    // A null request has an empty status.
    if (!take_completed(own, requests[i], status)) test(&requests[i], flag, status);
  }
  *flag = 1;
  return MPI_SUCCESS;
}

TUTTI_EXPORT int PMPI_Testany(int count, MPI_Request* requests, int* which, int* flag,
                              MPI_Status* status) {
  static const auto test = behind<decltype(&PMPI_Testany)>("PMPI_Testany");
  Polling& own = polling();
  *which = take_one_completed(own, count, requests, status);
  *flag = *which == MPI_UNDEFINED ? 0 : 1;
  if (*flag != 0 || repeats_latest(own, requests, count)) return MPI_SUCCESS;
  const bool skip = skips(own, __builtin_return_address(0));
  const int error = skip ? MPI_SUCCESS : test(count, requests, which, flag, status);
  if (*flag != 0) {
    forget_tests(own);
  } else {
    note_in_vain(own, requests, count);
  }
  return error;
}

// A program may wait for what it has tested in vain together with others.

TUTTI_EXPORT int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Wait)>("PMPI_Wait");
  return take_completed(polling(), *request, status) ? MPI_SUCCESS : wait(request, status);
}

TUTTI_EXPORT int PMPI_Waitany(int count, MPI_Request* requests, int* which, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  const int taken = take_one_completed(polling(), count, requests, status);
  if (taken == MPI_UNDEFINED) return wait(count, requests, which, status);
  *which = taken;
  return MPI_SUCCESS;
}

TUTTI_EXPORT int PMPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitsome)>("PMPI_Waitsome");
  *completed = take_some_completed(polling(), count, requests, indices, statuses);
  return *completed > 0 ? MPI_SUCCESS : wait(count, requests, completed, indices, statuses);
}

TUTTI_EXPORT int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitall)>("PMPI_Waitall");
  if (polling().completed.empty()) return wait(count, requests, statuses);
  for (int i = 0; i < count; ++i) {
    if (const int error = PMPI_Wait(&requests[i], status_at(statuses, i))) return error;
  }
  return MPI_SUCCESS;
}

TUTTI_EXPORT int PMPI_Request_free(MPI_Request* request) {
  static const auto free = behind<decltype(&PMPI_Request_free)>("PMPI_Request_free");
  const bool is_taken = take_completed(polling(), *request, MPI_STATUS_IGNORE);
  return is_taken && *request == MPI_REQUEST_NULL ? MPI_SUCCESS : free(request);
}

}  // extern "C"
