/// The loop that executes schedules and protocols.
#include "run/plan/executor.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "run/process.hpp"

namespace tutti {

namespace {

/// Tags of schedules are above those of protocols.
constexpr int first_message_tag = 1024;
constexpr int tags_of_call = first_message_tag + message_tags;

struct Abandon {
  void operator()(Transport* transport) const { transport->abandon(); }
};
/// Abandons open messages when a run ends early, by an error or an exception: unless it is
/// released.
using OpenMessages = std::unique_ptr<Transport, Abandon>;

/// A protocol that is never freed if it ends with open messages, whose words the MPI may still use.
struct RunningProtocol {
  Protocol protocol;
  const std::size_t& open;
  ~RunningProtocol() {
    if (open > 0) leak(protocol);
  }
};

Transfer transfer_of(const Exchange::Message& message, bool sends, int tag_base) {
  void* words = const_cast<std::int64_t*>(message.words.data());
  const auto bytes = static_cast<std::int64_t>(message.words.size() * sizeof(std::int64_t));
  return {sends, message.peer, tag_base + message.tag, {words, bytes, 0}};
}

}  // namespace

Executor::Executor(int max_tag)
    : distinguished_calls_((std::int64_t{max_tag} + 1) / tags_of_call) {}

void Executor::begin_call() {
  tag_base_ = static_cast<int>(++calls_ % distinguished_calls_) * tags_of_call;
}

int Executor::run(const Program& program, Buffers& buffers, Transport& transport) {
  begin(program, buffers, transport);
  return finish();
}

void Executor::begin(const Program& program, Buffers& buffers, Transport& transport, bool arrived) {
  program_ = &program;
  buffers_ = &buffers;
  transport_ = &transport;
  progress_.assign(program.operations.size(), {});
  held_.clear();
  ready_.clear();
  queue_.clear();
  served_ = 0;
  slots_in_use_ = 0;
  completed_.clear();
  next_ = 0;
  all_done_ = 0;
  examined_ = 0;
  damage_ = 0;
  open_ = program.operations.size();
  arrived_ = arrived;
}

int Executor::progress(bool& moved) {
  const std::size_t open = open_;
  const std::size_t next = next_;
  OpenMessages messages(transport_);
  const int error = go_on(poll());
  moved = open_ != open || next_ != next;
  if (error == 0) static_cast<void>(messages.release());
  return error;
}

int Executor::finish() {
  arrived_ = true;
  OpenMessages messages(transport_);
  for (const int number : held_) check_needs(number);
  held_.clear();
  int error = go_on(0);
  while (error == 0 && open_ > 0) error = go_on(await());
  if (error != 0) return error;
  static_cast<void>(messages.release());
  return damage_;
}

/// Polls until something completes.
int Executor::await() {
  int error = poll();
  while (error == 0 && completed_.empty()) {
    transport_->idle();
    error = poll();
  }
  return error;
}

int Executor::advance() {
  for (; next_ < program_->operations.size(); ++next_) {
    const auto number = static_cast<int>(next_);
    const Operation& next = operation(number);
    if (next.kind == OperationKind::wait) {
      if (!is_over(next)) return 0;
      complete(number);
    } else if (!arrived_ && next.runner == Runner::caller) {
      held_.push_back(number);
    } else {
      check_needs(number);
      if (const int error = start_ready()) return error;
    }
  }
  return 0;
}

/// Makes an operation ready, or lets it wait for the first of its needs that is not done.
void Executor::check_needs(int number) {
  const Operation& wanted = operation(number);
  Progress& known = at(number);
  for (known.need = std::max(known.need, wanted.first_need); known.need < wanted.last_need;
       ++known.need) {
    ++examined_;
    Progress& other = at(program_->needs[index(known.need)]);
    if (other.done) continue;
    known.next_waiter = std::exchange(other.first_waiter, number);
    return;
  }
  if (wanted.slots > 0) {
    queue_.push_back(number);
  } else {
    ready_.push_back(number);
    std::ranges::push_heap(ready_, std::greater<>());
  }
}

int Executor::start_ready() {
  const auto has_slot = [&] {
    return served_ < queue_.size() && slots_in_use_ < operation(queue_[served_]).slots;
  };
  while (!ready_.empty() || has_slot()) {
    int number = 0;
    if (ready_.empty()) {
      number = queue_[served_++];
      ++slots_in_use_;
    } else {
      std::ranges::pop_heap(ready_, std::greater<>());
      number = ready_.back();
      ready_.pop_back();
    }
    if (const int error = start(number)) return error;
  }
  return 0;
}

int Executor::start(int number) {
  const Operation& ready = operation(number);
  const bool sends = ready.kind == OperationKind::send;
  if (!sends && ready.kind != OperationKind::recv) {
    int error = 0;
    if (ready.kind == OperationKind::copy) {
      if (const int lost = copy(ready, error)) return lost;
    } else {
      error = ready.kind == OperationKind::reduce ? buffers_->reduce(ready.from, ready.to)
                                                  : buffers_->run(ready);
    }
    // An error without a message must not make other ranks wait.
    if (damage_ == 0) damage_ = error;
    complete(number);
    return 0;
  }
  Region region;
  if (const int error = buffers_->find(sends ? ready.from : ready.to, region)) return error;
  const int tag = tag_base_ + first_message_tag + ready.message % message_tags;
  return transport_->begin(number, {sends, ready.peer, tag, region});
}

/// Copies, and sets `error` to that of the copy itself. Returns the error of a missing buffer.
int Executor::copy(const Operation& operation, int& error) {
  if (buffers_->copy(operation.from, operation.to)) return 0;
  Region from;
  Region to;
  if (const int lost = buffers_->find(operation.from, from)) return lost;
  if (const int lost = buffers_->find(operation.to, to)) return lost;
  error = transport_->copy(from, to);
  return 0;
}

/// Ends an operation, and examines again those that wait for it.
void Executor::complete(int number) {
  at(number).done = true;
  --open_;
  if (operation(number).slots > 0) --slots_in_use_;
  for (int waiter = at(number).first_waiter; waiter != none;) {
    const int next = at(waiter).next_waiter;
    check_needs(waiter);
    waiter = next;
  }
}

/// Completes the messages that the last poll found. Without an `error` of it, starts what can
/// start.
int Executor::go_on(int error) {
  for (const int number : completed_) complete(number);
  completed_.clear();
  if (error == 0) error = start_ready();
  return error == 0 ? advance() : error;
}

int Executor::poll() {
  completed_.clear();
  const int error = transport_->poll(completed_);
  if (error != 0 && completed_.empty()) return error;
  if (damage_ == 0) damage_ = error;
  return 0;
}

bool Executor::is_over(const Operation& wait) {
  const auto last = index(wait.last);
  while (all_done_ < last && progress_[all_done_].done) {
    ++all_done_;
    ++examined_;
  }
  for (std::size_t i = std::max(all_done_, index(wait.first)); i < last; ++i) {
    ++examined_;
    if (!progress_[i].done) return false;
  }
  return true;
}

int Executor::run(Protocol protocol, Transport& transport) {
  open_ = 0;
  RunningProtocol running = {std::move(protocol), open_};
  OpenMessages messages(&transport);
  transport_ = &transport;
  damage_ = 0;
  while (const Exchange* const exchange = running.protocol.next()) {
    int slot = 0;
    int error = 0;
    open_ = exchange->recvs.size() + exchange->sends.size();
    for (const Exchange::Message& message : exchange->recvs) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, false, tag_base_));
    }
    for (const Exchange::Message& message : exchange->sends) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, true, tag_base_));
    }
    while (error == 0 && open_ > 0) {
      error = await();
      open_ -= completed_.size();
    }
    // Protocols cannot continue without the right words.
    if (error == 0) error = damage_;
    if (error != 0) return error;
  }
  static_cast<void>(messages.release());
  return 0;
}

}  // namespace tutti
