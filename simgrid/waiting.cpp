/// Replaces polling by blocking: a rank that polled in simulated time would either be late to
/// notice a message or cost the simulator an event for each poll.
#include "simgrid/waiting.h"

#include <malloc.h>
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simgrid/behind.hpp"

using tutti::simgrid::behind;

namespace {

/// Keeps the memory of a request that the MPI has freed, so that no other request gets its handle
/// while the program still has it. glibc hands out soon what was freed last, if the size is equal.
class Plug {
 public:
  explicit Plug(MPI_Request request) : request_(request), bytes_(malloc_usable_size(request)) {}
  /// Call it once the MPI has completed the request.
  void close() {
    std::vector<Memory> others;
    do {
      others.emplace_back(std::move(memory_));
      memory_.reset(std::malloc(bytes_));
    } while (memory_.get() != request_ && others.size() < max_tries);
    if (memory_.get() != request_) memory_.reset();
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;
  static constexpr std::size_t max_tries = 64;

  MPI_Request request_;
  std::size_t bytes_;
  Memory memory_;
};

/// A request that completed while a copy of its handle was tested or waited for.
struct Completed {
  MPI_Request handle;  ///< as the MPI left the copy: null, or still that of a persistent request
  MPI_Status status;
  int error;
  Plug plug;
};

/// What a rank has tested since it last waited, and what has completed since.
struct Polling {
  std::vector<MPI_Request> tested;  ///< by the latest test in vain
  int tests = 0;                    ///< different ones in vain since the rank last waited
  double at = -1;                   ///< simulated seconds of the latest test
  int repeats = 0;                  ///< tests in vain since something completed
  int yields = 0;                   ///< without any test, one after the other
  bool skipped = false;             ///< the latest test was not passed on to SimGrid
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

bool equals_latest(const Polling& own, const MPI_Request* requests, int count) {
  return own.tests > 0 &&
         std::equal(own.tested.begin(), own.tested.end(), requests, requests + count);
}

/// Counts a test in vain. Lets time pass, and returns true, once there are many.
bool tires(Polling& own) {
  if (++own.repeats % free_repeats != 0) return false;
  nap(own.repeats / free_repeats);
  return true;
}

/// Whether this test equals the latest one and no time has passed: the result is the same.
bool repeats_latest(Polling& own, const MPI_Request* requests, int count) {
  return own.at == simgrid_get_clock() && equals_latest(own, requests, count) && !tires(own);
}

void forget_tests(Polling& own) {
  own.tests = 0;
  own.repeats = 0;
  own.yields = 0;
}

/// The same where SimGrid has been asked: the next test may be skipped.
void note_asked(Polling& own) {
  forget_tests(own);
  own.skipped = false;
}

/// Notes a test that SimGrid was asked for, or that is skipped. `found`: something has completed.
void note_test(Polling& own, bool found, const MPI_Request* requests, int count) {
  if (found) return note_asked(own);
  if (!equals_latest(own, requests, count)) ++own.tests;
  own.tested.assign(requests, requests + count);
  own.at = simgrid_get_clock();
  tires(own);
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
  static const auto wait = behind<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  const std::vector<MPI_Request> tested = own.tested;
  note_asked(own);
  std::vector<MPI_Request> copies = tested;
  std::vector<Plug> plugs(tested.begin(), tested.end());
  int which = MPI_UNDEFINED;
  MPI_Status status{};
  const int error = wait(static_cast<int>(copies.size()), copies.data(), &which, &status);
  if (which == MPI_UNDEFINED) {
    own.skipped = true;
    return;
  }
  const auto at = static_cast<std::size_t>(which);
  if (copies[at] == MPI_REQUEST_NULL) plugs[at].close();
  own.completed.insert_or_assign(tested[at],
                                 Completed{copies[at], status, error, std::move(plugs[at])});
}

/// Reports a request that has completed before, if it has, with its error code.
bool take_completed(Polling& own, MPI_Request& request, MPI_Status* status, int& error) {
  const auto found = own.completed.find(request);
  if (found == own.completed.end()) return false;
  if (status != MPI_STATUS_IGNORE) {
    *status = found->second.status;
    status->MPI_ERROR = found->second.error;
  }
  error = found->second.error;
  request = found->second.handle;
  own.completed.erase(found);
  return true;
}

/// Reports the first of several requests that has completed; MPI_UNDEFINED if there is none.
int take_one_completed(Polling& own, int count, MPI_Request* requests, MPI_Status* status,
                       int& error) {
  for (int i = 0; i < count && !own.completed.empty(); ++i) {
    if (take_completed(own, requests[i], status, error)) return i;
  }
  return MPI_UNDEFINED;
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/// Reports all of several requests that have completed. Returns their number.
int take_some_completed(Polling& own, int count, MPI_Request* requests, int* indices,
                        MPI_Status* statuses, int& error) {
  int taken = 0;
  for (int i = 0; i < count && !own.completed.empty(); ++i) {
    int one = MPI_SUCCESS;
    if (!take_completed(own, requests[i], status_at(statuses, taken), one)) continue;
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
    indices[taken++] = i;
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
  int error = MPI_SUCCESS;
  *flag = 1;
  if (take_completed(own, *request, status, error)) return error;
  if (*request == MPI_REQUEST_NULL) {
    own.tests = 0;     // a rank that polls further requests does not wait for one
    MPI_Status empty;  // where the status is ignored, SimGrid 3.32 sets no flag
    return test(request, flag, status == MPI_STATUS_IGNORE ? &empty : status);
  }
  *flag = 0;
  if (repeats_latest(own, request, 1)) return MPI_SUCCESS;
  if (!skips(own, __builtin_return_address(0))) error = test(request, flag, status);
  note_test(own, *flag != 0, request, 1);
  return error;
}

TUTTI_EXPORT int PMPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto test = behind<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  Polling& own = polling();
  int error = MPI_SUCCESS;
  *completed = take_some_completed(own, count, requests, indices, statuses, error);
  if (*completed != 0 || repeats_latest(own, requests, count)) return error;
  if (!skips(own, __builtin_return_address(0))) {
    error = test(count, requests, completed, indices, statuses);
  }
  note_test(own, *completed != 0, requests, count);
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
    MPI_Status status{};
    Plug plug(request);
    const int error = test(&request, &is_done, &status);
    if (is_done == 0) {
      note_test(own, false, &requests[i], 1);
      return error;
    }
    const bool is_inactive = request != MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE &&
                             status.MPI_TAG == MPI_ANY_TAG;
    if (is_inactive) continue;
    note_asked(own);
    if (request == MPI_REQUEST_NULL) plug.close();
    own.completed.insert_or_assign(requests[i], Completed{request, status, error, std::move(plug)});
  }
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    int one = MPI_SUCCESS;
    MPI_Status* const status = status_at(statuses, i);
    // A null request has an empty status.
    if (!take_completed(own, requests[i], status, one)) test(&requests[i], flag, status);
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
  }
  *flag = 1;
  return error;
}

TUTTI_EXPORT int PMPI_Testany(int count, MPI_Request* requests, int* which, int* flag,
                              MPI_Status* status) {
  static const auto test = behind<decltype(&PMPI_Testany)>("PMPI_Testany");
  Polling& own = polling();
  int error = MPI_SUCCESS;
  *which = take_one_completed(own, count, requests, status, error);
  *flag = *which == MPI_UNDEFINED ? 0 : 1;
  if (*flag != 0 || repeats_latest(own, requests, count)) return error;
  if (!skips(own, __builtin_return_address(0))) error = test(count, requests, which, flag, status);
  note_test(own, *flag != 0, requests, count);
  return error;
}

// A program may wait for what it has tested in vain together with others.

TUTTI_EXPORT int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Wait)>("PMPI_Wait");
  Polling& own = polling();
  int error = MPI_SUCCESS;
  forget_tests(own);
  return take_completed(own, *request, status, error) ? error : wait(request, status);
}

TUTTI_EXPORT int PMPI_Waitany(int count, MPI_Request* requests, int* which, MPI_Status* status) {
  static const auto wait = behind<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  Polling& own = polling();
  int error = MPI_SUCCESS;
  forget_tests(own);
  *which = take_one_completed(own, count, requests, status, error);
  return *which == MPI_UNDEFINED ? wait(count, requests, which, status) : error;
}

TUTTI_EXPORT int PMPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                               MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitsome)>("PMPI_Waitsome");
  Polling& own = polling();
  int error = MPI_SUCCESS;
  forget_tests(own);
  *completed = take_some_completed(own, count, requests, indices, statuses, error);
  return *completed > 0 ? error : wait(count, requests, completed, indices, statuses);
}

TUTTI_EXPORT int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static const auto wait = behind<decltype(&PMPI_Waitall)>("PMPI_Waitall");
  Polling& own = polling();
  forget_tests(own);
  if (own.completed.empty()) return wait(count, requests, statuses);
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
  Polling& own = polling();
  int error = MPI_SUCCESS;
  forget_tests(own);
  const bool is_taken = take_completed(own, *request, MPI_STATUS_IGNORE, error);
  return is_taken && *request == MPI_REQUEST_NULL ? MPI_SUCCESS : free(request);
}

TUTTI_EXPORT int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  static const auto get = behind<decltype(&PMPI_Request_get_status)>("PMPI_Request_get_status");
  const Polling& own = polling();
  const auto found = own.completed.find(request);
  if (found == own.completed.end()) return get(request, flag, status);
  *flag = 1;
  if (status != MPI_STATUS_IGNORE) *status = found->second.status;
  return MPI_SUCCESS;
}

TUTTI_EXPORT int PMPI_Cancel(MPI_Request* request) {
  static const auto cancel = behind<decltype(&PMPI_Cancel)>("PMPI_Cancel");
  forget_tests(polling());
  return polling().completed.contains(*request) ? MPI_SUCCESS : cancel(request);
}

/// A test of a persistent request that is not active completes it.
TUTTI_EXPORT int PMPI_Start(MPI_Request* request) {
  static const auto start = behind<decltype(&PMPI_Start)>("PMPI_Start");
  forget_tests(polling());
  polling().completed.erase(*request);
  return start(request);
}

TUTTI_EXPORT int PMPI_Startall(int count, MPI_Request* requests) {
  static const auto start = behind<decltype(&PMPI_Startall)>("PMPI_Startall");
  forget_tests(polling());
  for (int i = 0; i < count; ++i) polling().completed.erase(requests[i]);
  return start(count, requests);
}

}  // extern "C"
