/// What a simulated rank has tested in vain, and what has completed since: what its tests need not
/// ask SimGrid, and what it waits for instead of testing again.
#pragma once

#include <malloc.h>
#include <mpi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tutti::simgrid {

/// Keeps the memory of a request that the MPI has freed, so that no other request gets its handle
/// while the program still has it. glibc hands out soon what was freed last, if the size is equal.
class Plug {
 public:
  explicit Plug(MPI_Request request) : request_(request), bytes_(malloc_usable_size(request)) {}
  /// Call it once the MPI has completed the request.
  void close();

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;

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

/// One rank's tests since it last waited. Requests that have completed stay here until a test or a
/// wait reports them.
class Polling {
 public:
  /// That of the calling rank, which is about to test, to wait or to let others run.
  static Polling& of_rank();

  /// Whether this test equals the latest one and no time has passed: the result is the same.
  bool repeats_latest(const MPI_Request* requests, int count);
  /// Whether to report that nothing has completed, without asking. A rank that tests in vain waits
  /// next, and the wait reports what has completed by then at the same time. SimGrid 3.32 keeps
  /// every message that a test completes in a list until the rank ends, and searches the list at
  /// each further message, so that p messages of each rank take O(p^3) steps; a wait removes them.
  /// Programs may test without waiting, and so may Tutti: never two tests in succession.
  /// `caller`: the return address of the test.
  bool skips(const void* caller);
  /// Notes a test that SimGrid was asked for, or that is skipped. `found`: something has completed.
  void note_test(bool found, const MPI_Request* requests, int count);
  /// The rank has waited, or does what may make further requests complete.
  void forget_tests();
  /// Of null requests nobody waits for one.
  void forget_requests() { tests_ = 0; }
  /// Lets other ranks run: until a request completes if one test was in vain, else for a moment.
  void yield();

  /// Keeps a completed request, whose handle the program has, until it is taken.
  void keep(MPI_Request request, Completed completed);
  [[nodiscard]] const Completed* find(MPI_Request request) const;
  [[nodiscard]] bool has_completed() const { return !completed_.empty(); }
  void drop(MPI_Request request) { completed_.erase(request); }
  /// Reports a request that has completed before, if it has, with its error code.
  bool take(MPI_Request& request, MPI_Status* status, int& error);
  /// Reports the first of several requests that has completed; MPI_UNDEFINED if there is none.
  int take_one(int count, MPI_Request* requests, MPI_Status* status, int& error);
  /// Reports all of several requests that have completed. Returns their number.
  int take_some(int count, MPI_Request* requests, int* indices, MPI_Status* statuses, int& error);

 private:
  [[nodiscard]] bool equals_latest(const MPI_Request* requests, int count) const;
  bool tires();
  void note_asked();
  void wait_for_tested();

  std::vector<MPI_Request> tested_;  ///< by the latest test in vain
  int tests_ = 0;                    ///< different ones in vain since the rank last waited
  double at_ = -1;                   ///< simulated seconds of the latest test
  int repeats_ = 0;                  ///< tests in vain since something completed
  int yields_ = 0;                   ///< without any test, one after the other
  bool skipped_ = false;             ///< the latest test was not passed on to SimGrid
  std::map<MPI_Request, Completed> completed_;
};

/// Where the i-th status goes.
inline MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

}  // namespace tutti::simgrid
