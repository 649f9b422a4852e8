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

/// What a rank has tested since it last waited, and what has completed since.
struct Polling {
  MPI_Request* requests = nullptr;  ///< of the latest test in vain; null if there was none
  int count = 0;
  int tests = 0;         ///< different ones in vain since the rank last waited
  double at = -1;        ///< simulated seconds of the latest test
  int repeats = 0;       ///< of that test, at the same time
  int yields = 0;        ///< without any test, one after the other
  bool skipped = false;  ///< the latest test was not passed on to SimGrid
  std::map<MPI_Request, MPI_Status> completed;
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
  own.completed[tested[index]] = status;
}

/// Reports a request that has completed during a wait, if it has.
bool take_completed(Polling& own, MPI_Request& request, MPI_Status* status) {
  const auto found = own.completed.find(request);
  if (found == own.completed.end()) return false;
  if (status != MPI_STATUS_IGNORE) *status = found->second;
  own.completed.erase(found);
  request = MPI_REQUEST_NULL;
  return true;
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
  *completed = 0;
  for (int i = 0; i < count && !own.completed.empty(); ++i) {
    MPI_Status* const status =
        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*completed];
    if (take_completed(own, requests[i], status)) indices[(*completed)++] = i;
  }
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
    own.completed[requests[i]] = status;
  }
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    take_completed(own, requests[i],
                   statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  }
  return MPI_SUCCESS;
}

}  // extern "C"
