/// Drives one-sided operations, many at once, each up to the next receive.
#include "run/rma/mpi_rma.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "run/mpi/devices.hpp"
#include "run/mpi/end.hpp"
#include "run/mpi/exchange.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// The largest number of active operations of one root.
constexpr std::size_t max_under_way = 64;
/// Messages taken in one round before operations continue: data of a stream moves on while more
/// arrives.
constexpr int max_messages = 8;

std::int32_t microseconds_since(std::chrono::steady_clock::time_point time) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto passed = std::chrono::steady_clock::now() - time;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(most, passed / std::chrono::microseconds(1)));
}

}  // namespace

int RmaSystem::open(MPI_Comm comm, const NodeSettings& settings, bool wants_windows,
                    std::unique_ptr<RmaSystem>& made) {
  look_for_devices();
  std::unique_ptr<RmaSystem> system(new RmaSystem);
  if (const int error = OwnedComm::duplicate(comm, system->comm_)) return error;
  const MPI_Comm own = system->comm();
  system->rank_ = rank_in(own);
  system->p_ = size_of(own);
  system->delays_.assign(index(system->p_), 0);
  bool have_threads = false;
  int error = true_on_all(own, start_thread(), have_threads);
  if (error != MPI_SUCCESS) return error;
  if (!have_threads) return MPI_ERR_UNSUPPORTED_OPERATION;
  bool nobody_wants_windows = true;
  error = guess_nodes(own, settings, system->nodes_);
  if (error == MPI_SUCCESS) error = probe_rma_progress(own, system->progresses_);
  if (error == MPI_SUCCESS) {
    try {
      error = open_message_queue(own, system->of(Notifications::messages));
    } catch (const std::bad_alloc&) {
      error = MPI_ERR_NO_MEM;  // the others wait in the agreement
    }
  }
  error = agreed_error(own, error);
  if (error == MPI_SUCCESS) error = true_on_all(own, !wants_windows, nobody_wants_windows);
  if (error == MPI_SUCCESS && !nobody_wants_windows) {
    error = open_request_windows(own, system->of(Notifications::windows));
  }
  if (error != MPI_SUCCESS) return error;
  Background::of_process().add(*system);
  made = std::move(system);
  return MPI_SUCCESS;
}

RmaSystem::~RmaSystem() {
  Background::of_process().remove(*this);
  // Not closed because of an error: the MPI may still use what is open.
  for (auto& each : notifications_) leak(each);
  for (auto* operations : {&own_, &others_}) leak(*operations);
}

int RmaSystem::close() {
  for (int number = first_window(); number > 0; number = first_window()) {
    if (const int error = remove_window(number)) return error;
  }
  Background::of_process().remove(*this);
  if (const int error = mpi().Barrier(comm())) return error;
  // Another thread may still be waiting for one of the last operations.
  const std::lock_guard lock(mutex_);
  int error = MPI_SUCCESS;
  for (auto& each : notifications_) {
    if (each != nullptr && error == MPI_SUCCESS) error = each->close();
    if (error == MPI_SUCCESS) each.reset();
  }
  comm_.free();
  return error;
}

bool RmaSystem::has_own_operations(int window) const {
  const auto is_on = [&](const RmaOperation& operation) {
    return operation.control().window == window;
  };
  return std::ranges::any_of(own_, is_on) || std::ranges::any_of(waiting_, is_on);
}

int RmaSystem::begin(RmaControlMessage control, std::vector<Rank> order, std::byte* users,
                     std::shared_ptr<RmaOutcome> outcome) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = windows_.find(control.window);
    if (found == windows_.end()) return MPI_ERR_WIN;
    RmaWindow& window = *found->second;
    // An empty region may be anywhere, and its address could overflow.
    if (control.region.bytes == 0) control.region.displacement = 0;
    if (const int error = window.check(control.region)) return error;
    const bool needs_windows = control.parameters.protocol == Notifications::windows;
    if (needs_windows && (of(Notifications::windows) == nullptr || !order.empty())) {
      return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    control.root = rank_;
    control.operation = begun_;
    control.number = window.begun() + 1;
    waiting_.emplace_back(control, std::move(order), users, std::move(outcome));
    ++begun_;
    ++window.begun();
  }
  const int error = go_on();
  Background::of_process().wake();
  return error;
}

std::chrono::microseconds RmaSystem::expected_wait() {
  const std::lock_guard lock(mutex_);
  const auto quiet = std::chrono::steady_clock::now() - moved_;
  return Background::pause_after(quiet, patience()) / 2;
}

std::vector<double> RmaSystem::delays() {
  const std::lock_guard lock(mutex_);
  return delays_;
}

int RmaSystem::arrived(int window, Rank root, std::int64_t& number) {
  const std::lock_guard lock(mutex_);
  const auto found = windows_.find(window);
  if (found == windows_.end()) return MPI_ERR_WIN;
  number = found->second->arrivals(root).all_up_to();
  return error_;
}

int RmaSystem::wait(const std::function<bool()>& is_over) {
  constexpr long impatient = 200;
  for (long rounds = 0; !is_over(); ++rounds) {
    if (const int error = go_on()) return error;
    if (rounds < impatient) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  return MPI_SUCCESS;
}

int RmaSystem::go_on() {
  const std::lock_guard lock(mutex_);
  advance();
  return error_;
}

BackgroundTask::Progress RmaSystem::proceed() {
  const std::lock_guard lock(mutex_);
  if (windows_.empty() || error_ != MPI_SUCCESS) return Progress::nothing_expected;
  advance();
  // The program's thread may have made progress too.
  const bool moved = std::exchange(seen_, moved_) != moved_;
  return moved ? Progress::moved : Progress::waiting;
}

/// A lack of memory stays like any error: some operation may have lost a message.
void RmaSystem::advance() {
  try {
    while (move()) {
    }
  } catch (const std::bad_alloc&) {
    note(MPI_ERR_NO_MEM);
  }
}

/// One round of progress. True if anything moved.
bool RmaSystem::move() {
  if (error_ != MPI_SUCCESS) return false;
  bool moved = take_messages();
  moved = start_waiting() || moved;
  for (std::list<RmaOperation>* operations : {&others_, &own_}) {
    for (auto at = operations->begin(); at != operations->end();) {
      note(at->proceed(moved));
      const bool is_over = at->is_done() && error_ == MPI_SUCCESS;
      if (is_over) end(*at);
      at = is_over ? operations->erase(at) : std::next(at);
    }
  }
  if (moved) moved_ = looked_;
  return moved && error_ == MPI_SUCCESS;
}

bool RmaSystem::take_messages() {
  bool moved = false;
  for (auto& each : notifications_) {
    int error = MPI_SUCCESS;
    for (int taken = 0; each != nullptr && taken < max_messages; ++taken) {
      auto received = each->take(error);
      if (!received) break;
      take(*received);
      moved = true;
    }
    note(error);
  }
  looked_ = std::chrono::steady_clock::now();
  return moved;
}

void RmaSystem::take(RmaMessage& received) {
  const RmaControlMessage& control = received.control;
  const auto found = windows_.find(control.window);
  if (found == windows_.end()) return;  // the program freed it before its operations were complete
  const bool answers = control.root == rank_;
  std::list<RmaOperation>& operations = answers ? own_ : others_;
  auto at = std::ranges::find_if(operations, [&](const RmaOperation& known) {
    return known.control().root == control.root && known.control().operation == control.operation;
  });
  if (answers) {
    if (at == own_.end()) return;
    double& late = delays_[index(received.from)];
    late += (1e-6 * control.waited - late) / 4;
  } else if (at == others_.end()) {
    RmaControlMessage kept = control;
    kept.waited = microseconds_since(looked_);
    others_.emplace_back(kept, std::move(received.order), nullptr, nullptr);
    at = std::prev(others_.end());
    start(*at);
  } else {
    note(found->second->sync());  // puts that the notification announces
  }
  at->hear(received.from, received.carried);
}

bool RmaSystem::is_in_the_way(const RmaOperation& operation) const {
  const RmaControlMessage& control = operation.control();
  const RmaWindow& window = *windows_.at(control.window);
  if (own_.size() >= max_under_way) return true;
  return std::ranges::any_of(own_, [&](const RmaOperation& other) {
    return other.control().window == control.window &&
           window.may_overlap(control.region, other.control().region);
  });
}

/// Starts operations in the sequence of their calls: one that must wait delays those after it.
bool RmaSystem::start_waiting() {
  bool moved = false;
  while (!waiting_.empty() && !is_in_the_way(waiting_.front())) {
    RmaOperation& operation = waiting_.front();
    start(operation);  // the window has its data before the arrival is noted
    if (!operation.flows_to_root()) note_arrival(operation);
    own_.splice(own_.end(), waiting_, waiting_.begin());
    moved = true;
  }
  return moved;
}

void RmaSystem::start(RmaOperation& operation) {
  const RmaControlMessage& control = operation.control();
  RmaWindow& window = *windows_.at(control.window);
  note(window.sync());
  operation.start(nodes_, rank_, window, *of(control.parameters.protocol));
  bool moved = false;
  note(operation.proceed(moved));
}

void RmaSystem::note_arrival(RmaOperation& operation) {
  RmaWindow& window = *windows_.at(operation.control().window);
  note(window.sync());
  window.arrivals(operation.control().root).add(operation.control().number);
}

/// A rank's contribution to the root has left its window now. Data from the root has been
/// forwarded, so that the program may change it.
void RmaSystem::end(RmaOperation& operation) {
  if (operation.flows_to_root() || !operation.at_root()) note_arrival(operation);
  if (operation.at_root()) operation.finish(MPI_SUCCESS);
}

}  // namespace tutti
