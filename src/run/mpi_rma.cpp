/// Going through schedules with puts, flushes and notifications.
#include "run/mpi_rma.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "algorithms/problems.hpp"
#include "run/mpi_end.hpp"

namespace tutti {

namespace {

bool can_have_thread() {
  if (!can_end_threads()) return false;
  int level = MPI_THREAD_SINGLE;
  mpi().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE && Background::of_process().start();
}

bool overlap(const RmaPlace& a, const RmaPlace& b, const RmaWindow& window) {
  const std::byte* from = window.at(a);
  const std::byte* to = window.at(b);
  return from < to + b.bytes && to < from + a.bytes;
}

}  // namespace

void give_up_core(long rounds) {
  constexpr long impatient = 200;
  if (rounds < impatient) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

int RmaSystem::open(MPI_Comm comm, std::unique_ptr<RmaSystem>& made) {
  std::unique_ptr<RmaSystem> system(new RmaSystem);
  if (const int error = system->open_here(comm)) return error;
  made = std::move(system);
  return MPI_SUCCESS;
}

int RmaSystem::open_here(MPI_Comm comm) {
  if (const int error = PrivateComm::duplicate(comm, comm_)) return error;
  mpi().Comm_rank(this->comm(), &rank_);
  mpi().Comm_size(this->comm(), &p_);
  const char mine = can_have_thread() ? 1 : 0;
  std::vector<char> all(static_cast<std::size_t>(p_));
  int error = mpi().Allgather(&mine, 1, mpi().byte, all.data(), 1, mpi().byte, this->comm());
  if (error != MPI_SUCCESS) return error;
  if (std::count(all.begin(), all.end(), 0) > 0) return MPI_ERR_UNSUPPORTED_OPERATION;
  error = RmaMailbox::open(this->comm(), mailbox_);
  if (error == MPI_SUCCESS) error = mailbox_->probe_progress(this->comm(), progresses_);
  if (error != MPI_SUCCESS) return error;
  done_target_.assign(RmaMailbox::operations, 0);
  Background::of_process().add(*this);
  is_task_ = true;
  return MPI_SUCCESS;
}

RmaSystem::~RmaSystem() {
  if (is_task_) Background::of_process().remove(*this);
}

int RmaSystem::close() {
  while (!windows_.empty()) {
    if (const int error = remove_window(windows_.begin()->first)) return error;
  }
  if (is_task_) Background::of_process().remove(*this);
  is_task_ = false;
  if (const int error = mpi().Barrier(comm())) return error;
  const int error = mailbox_->close();
  comm_->free();
  return error;
}

int RmaSystem::add_window(MPI_Win handle, int& number) {
  std::unique_ptr<RmaWindow> window;
  if (const int error = RmaWindow::open(handle, comm(), window)) return error;
  // A number of its own in each process, the same in all of them.
  static std::atomic<int> next = 1;
  const int mine = next;
  std::vector<int> all(static_cast<std::size_t>(p_));
  const int error =
      mpi().Allgather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, comm());
  if (error != MPI_SUCCESS) return error;
  number = *std::max_element(all.begin(), all.end());
  next = number + 1;
  {
    const std::lock_guard lock(mutex_);
    windows_[number] = std::move(window);
  }
  Background::of_process().wake();
  return mpi().Barrier(comm());  // whoever begins an operation finds the window everywhere
}

/// Whoever has seen all his operations done has had them passed on by all ranks: after the barrier
/// nothing is on its way.
int RmaSystem::remove_window(int number) {
  if (!has_window(number)) return MPI_ERR_WIN;
  int error = wait([&] {
    const std::lock_guard lock(mutex_);
    return !has_own_operations(number);
  });
  if (error == MPI_SUCCESS) error = mpi().Barrier(comm());
  const std::lock_guard lock(mutex_);
  const int closed = windows_[number]->close();
  windows_.erase(number);
  return error != MPI_SUCCESS ? error : closed;
}

bool RmaSystem::has_window(int number) {
  const std::lock_guard lock(mutex_);
  return windows_.contains(number);
}

int RmaSystem::number_of(MPI_Win handle) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, window] : windows_) {
    if (window->handle() == handle) return number;
  }
  return -1;
}

bool RmaSystem::has_own_operations(int window) const {
  const auto is_on = [&](const Operation& operation) { return operation.notice.window == window; };
  return std::any_of(own_.begin(), own_.end(), is_on) ||
         std::any_of(waiting_.begin(), waiting_.end(), is_on);
}

int RmaSystem::begin_bcast(const std::byte* packed, const RmaPlace& place, int window,
                           const Specification& specification,
                           std::shared_ptr<RmaOutcome> outcome) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = windows_.find(window);
    if (found == windows_.end()) return MPI_ERR_WIN;
    if (const int error = found->second->check(place)) return error;
    Operation operation;
    operation.notice.root = rank_;
    operation.notice.window = window;
    operation.notice.operation = begun_++;
    operation.notice.number = found->second->next_number();
    operation.notice.displacement = place.displacement;
    operation.notice.bytes = place.bytes;
    operation.notice.specification = to_word(specification);
    operation.place = place;
    operation.bytes = packed;
    operation.outcome = std::move(outcome);
    waiting_.push_back(std::move(operation));
  }
  const int error = go_on();
  Background::of_process().wake();
  return error;
}

int RmaSystem::arrived(int window, Rank root, std::int64_t& number) {
  const std::lock_guard lock(mutex_);
  const auto found = windows_.find(window);
  if (found == windows_.end()) return MPI_ERR_WIN;
  number = found->second->arrivals(root).all_up_to();
  return error_;
}

int RmaSystem::go_on() {
  const std::lock_guard lock(mutex_);
  while (move()) {
  }
  return error_;
}

BackgroundTask::Progress RmaSystem::proceed() {
  const std::lock_guard lock(mutex_);
  if (windows_.empty() || error_ != MPI_SUCCESS) return Progress::nothing_expected;
  bool moved = false;
  while (move()) moved = true;
  return moved ? Progress::moved : Progress::waiting;
}

/// One round. True if anything came of it.
bool RmaSystem::move() {
  if (error_ != MPI_SUCCESS) return false;
  // Nothing is ever received here: the MPI is given the time to serve puts into this rank.
  int found = 0;
  MPI_Status status{};
  note(mpi().Iprobe(MPI_ANY_SOURCE, 0, comm(), &found, &status));
  bool moved = take_notices();
  moved = start_waiting() || moved;
  for (std::list<Operation>* operations : {&others_, &own_}) {
    for (auto at = operations->begin(); at != operations->end();) {
      moved = run(*at) || moved;
      const bool is_over = at->at == static_cast<StepId>(at->schedule.steps.size());
      if (is_over && at->outcome) at->outcome->is_over = true;
      at = is_over ? operations->erase(at) : std::next(at);
    }
  }
  return moved && error_ == MPI_SUCCESS;
}

bool RmaSystem::take_notices() {
  bool moved = false;
  for (Rank from = 0; from < p_; ++from) {
    if (from == rank_) continue;
    const std::byte* carried = nullptr;
    int error = MPI_SUCCESS;
    while (const auto notice = mailbox_->take(from, carried, error)) {
      note(error);
      take(*notice, carried);
      moved = true;
    }
  }
  return moved;
}

void RmaSystem::take(const RmaNotice& notice, const std::byte* carried) {
  const auto found = windows_.find(notice.window);
  if (found == windows_.end()) return note(MPI_ERR_WIN);
  auto at = std::find_if(others_.begin(), others_.end(), [&](const Operation& known) {
    return known.notice.root == notice.root && known.notice.operation == notice.operation;
  });
  if (at == others_.end()) {
    Operation operation;
    operation.notice = notice;
    operation.place = {notice.displacement, notice.bytes};
    operation.bytes = found->second->at(operation.place);
    build(operation);
    at = others_.insert(others_.end(), std::move(operation));
  }
  ++at->parts_here;
  if (notice.carries) {
    const Bytes begin = offset_of(*at, notice.part);
    const Bytes end = offset_of(*at, notice.part + 1);
    if (end > begin) {
      std::memcpy(found->second->at(at->place) + begin, carried,
                  static_cast<std::size_t>(end - begin));
    }
  }
}

bool RmaSystem::is_in_the_way(const Operation& operation) const {
  const RmaWindow& window = *windows_.at(operation.notice.window);
  if (own_.size() >= static_cast<std::size_t>(RmaMailbox::operations)) return true;
  return std::any_of(own_.begin(), own_.end(), [&](const Operation& other) {
    const bool same_counter =
        (operation.notice.operation - other.notice.operation) % RmaMailbox::operations == 0;
    return same_counter || (other.notice.window == operation.notice.window &&
                            overlap(operation.place, other.place, window));
  });
}

/// In the sequence in which they were begun: one that must wait holds up those after it.
bool RmaSystem::start_waiting() {
  bool moved = false;
  while (!waiting_.empty() && !is_in_the_way(waiting_.front())) {
    Operation& operation = waiting_.front();
    RmaWindow& window = *windows_.at(operation.notice.window);
    std::byte* here = window.at(operation.place);
    if (operation.place.bytes > 0 && here != operation.bytes) {
      std::memmove(here, operation.bytes, static_cast<std::size_t>(operation.place.bytes));
    }
    window.arrivals(rank_).add(operation.notice.number);
    const auto counter =
        static_cast<std::size_t>(operation.notice.operation % RmaMailbox::operations);
    operation.done_when = done_target_[counter] += p_ - 1;
    build(operation);
    own_.splice(own_.end(), waiting_, waiting_.begin());
    moved = true;
  }
  return moved;
}

void RmaSystem::build(Operation& operation) const {
  const Specification specification = specification_from(operation.notice.specification);
  Problem problem;
  problem.collective = Collective::rma_bcast;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = operation.notice.root;
  problem.order = order_of(specification, p_, problem.root, {});
  problem.sizes = Sizes::parts(operation.place.bytes, 1, 1);
  problem.parameters = specification.parameters;
  operation.schedule = schedule_of(specification, problem);
}

Bytes RmaSystem::offset_of(const Operation& operation, int part) const {
  return Sizes::parts(operation.place.bytes, 1, operation.schedule.parts).of({0, part});
}

/// Up to the first step that must wait for others. True if it has come further.
bool RmaSystem::run(Operation& operation) {
  const StepId before = operation.at;
  const auto& steps = operation.schedule.steps;
  while (operation.at < static_cast<StepId>(steps.size()) && error_ == MPI_SUCCESS &&
         step(operation, steps[static_cast<std::size_t>(operation.at)])) {
    ++operation.at;
  }
  return operation.at != before;
}

/// False if the step cannot be done yet.
bool RmaSystem::step(Operation& operation, const Step& step) {
  RmaWindow& window = *windows_.at(operation.notice.window);
  switch (step.kind) {
    case StepKind::await:
      if (operation.outcome) {
        return mailbox_->done(operation.notice.operation) >= operation.done_when;
      }
      if (operation.parts_awaited == operation.parts_here) return false;
      if (++operation.parts_awaited == operation.schedule.parts) {
        note(window.sync());
        window.arrivals(operation.notice.root).add(operation.notice.number);
      }
      return true;
    case StepKind::put:
      if (step.bytes > 0) {
        note(window.put(operation.bytes, offset_of(operation, step.blocks.range.begin), step.bytes,
                        step.peer, operation.place));
      }
      return true;
    case StepKind::flush:
      note(window.flush(step.peer));
      if (std::exchange(operation.notified, false)) note(mailbox_->flush(step.peer));
      return true;
    case StepKind::notify:
      return notify(operation, step);
    default:
      return true;
  }
}

bool RmaSystem::notify(Operation& operation, const Step& step) {
  if (step.blocks.range.empty()) {
    note(mailbox_->add_done(step.peer, operation.notice.operation));
    return true;
  }
  if (!mailbox_->can_post(step.peer)) return false;
  RmaNotice notice = operation.notice;
  notice.part = step.blocks.range.begin;
  notice.carries = step.carries;
  std::span<const std::byte> carried;
  if (step.carries && step.bytes > 0) {
    carried = {operation.bytes + offset_of(operation, notice.part),
               static_cast<std::size_t>(step.bytes)};
  }
  note(mailbox_->post(step.peer, notice, carried));
  operation.notified = true;
  return true;
}

}  // namespace tutti
