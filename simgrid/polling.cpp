/// When a simulated rank's test is answered without SimGrid, and when it lets time pass.
#include "simgrid/polling.hpp"

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <algorithm>
#include <unordered_map>

#include "simgrid/behind.hpp"
#include "simgrid/node_memory.h"

namespace tutti::simgrid {

namespace {

constexpr std::size_t max_tries = 64;  ///< to get a freed request's memory back
constexpr int free_repeats = 10'000;   ///< tests in vain that take no simulated time
constexpr int free_yields = 1'000;     ///< yields without tests that take no simulated time
constexpr double shortest_nap = 1e-7;  ///< seconds
constexpr double longest_nap = 1e-4;

/// Sleeps for longer the more often the rank has come here in vain.
void nap(int times) { sg_actor_sleep_for(std::min(longest_nap, shortest_nap * (1 + times))); }

}  // namespace

void Plug::close() {
  std::vector<Memory> others;
  do {
    others.emplace_back(std::move(memory_));
    memory_.reset(std::malloc(bytes_));
  } while (memory_.get() != request_ && others.size() < max_tries);
  if (memory_.get() != request_) memory_.reset();
}

Polling& Polling::of_rank() {
  static std::unordered_map<aid_t, Polling> all;
  tutti_simgrid_finish_moves();
  return all[sg_actor_self_get_pid()];
}

bool Polling::equals_latest(const MPI_Request* requests, int count) const {
  return tests_ > 0 && std::equal(tested_.begin(), tested_.end(), requests, requests + count);
}

/// Counts a test in vain. Lets time pass, and returns true, once there are many.
bool Polling::tires() {
  if (++repeats_ % free_repeats != 0) return false;
  nap(repeats_ / free_repeats);
  return true;
}

bool Polling::repeats_latest(const MPI_Request* requests, int count) {
  return at_ == simgrid_get_clock() && equals_latest(requests, count) && !tires();
}

void Polling::forget_tests() {
  tests_ = 0;
  repeats_ = 0;
  yields_ = 0;
}

/// The same where SimGrid has been asked: the next test may be skipped.
void Polling::note_asked() {
  forget_tests();
  skipped_ = false;
}

void Polling::note_test(bool found, const MPI_Request* requests, int count) {
  if (found) return note_asked();
  if (!equals_latest(requests, count)) ++tests_;
  tested_.assign(requests, requests + count);
  at_ = simgrid_get_clock();
  tires();
}

bool Polling::skips(const void* caller) {
  skipped_ = !skipped_ && !is_in_simgrid(caller);
  return skipped_;
}

/// Blocks until one of the latest test's requests completes, and keeps the result for the next.
void Polling::wait_for_tested() {
  static const auto wait = behind<decltype(&PMPI_Waitany)>("PMPI_Waitany");
  const std::vector<MPI_Request> tested = tested_;
  note_asked();
  std::vector<MPI_Request> copies = tested;
  std::vector<Plug> plugs(tested.begin(), tested.end());
  int which = MPI_UNDEFINED;
  MPI_Status status{};
  const int error = wait(static_cast<int>(copies.size()), copies.data(), &which, &status);
  if (which == MPI_UNDEFINED) {
    skipped_ = true;
    return;
  }
  const auto at = static_cast<std::size_t>(which);
  keep(tested[at], {copies[at], status, error, std::move(plugs[at])});
}

void Polling::yield() {
  if (tests_ == 1) return wait_for_tested();
  if (tests_ == 0 && yields_ < free_yields) {
    ++yields_;
    return sg_actor_yield();
  }
  const int times = ++yields_;
  tests_ = 0;
  nap(times);
}

void Polling::keep(MPI_Request request, Completed completed) {
  note_asked();
  if (completed.handle == MPI_REQUEST_NULL) completed.plug.close();
  completed_.insert_or_assign(request, std::move(completed));
}

const Completed* Polling::find(MPI_Request request) const {
  const auto found = completed_.find(request);
  return found == completed_.end() ? nullptr : &found->second;
}

bool Polling::take(MPI_Request& request, MPI_Status* status, int& error) {
  const auto found = completed_.find(request);
  if (found == completed_.end()) return false;
  if (status != MPI_STATUS_IGNORE) {
    *status = found->second.status;
    status->MPI_ERROR = found->second.error;
  }
  error = found->second.error;
  request = found->second.handle;
  completed_.erase(found);
  return true;
}

int Polling::take_one(int count, MPI_Request* requests, MPI_Status* status, int& error) {
  for (int i = 0; i < count && has_completed(); ++i) {
    if (take(requests[i], status, error)) return i;
  }
  return MPI_UNDEFINED;
}

int Polling::take_some(int count, MPI_Request* requests, int* indices, MPI_Status* statuses,
                       int& error) {
  int taken = 0;
  for (int i = 0; i < count && has_completed(); ++i) {
    int one = MPI_SUCCESS;
    if (!take(requests[i], status_at(statuses, taken), one)) continue;
    if (one != MPI_SUCCESS) error = MPI_ERR_IN_STATUS;
    indices[taken++] = i;
  }
  return taken;
}

}  // namespace tutti::simgrid
