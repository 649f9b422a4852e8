/// The loop that executes schedules and protocols.
#include "run/plan/executor.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tutti {

namespace {

/// Tags of schedules are above those of protocols.
constexpr int first_message_tag = 1024;
/// Messages between two ranks that share a tag match in the sequence in which they begin.
constexpr int message_tags = 3072;
constexpr int tags_of_call = first_message_tag + message_tags;

/// Abandons open messages when a run ends early, by an error or an exception.
class Abandon {
 public:
  explicit Abandon(Transport& transport) : transport_(transport) {}
  ~Abandon() {
    if (!finished_) transport_.abandon();
  }
  Abandon(const Abandon&) = delete;
  Abandon& operator=(const Abandon&) = delete;
  void finished() { finished_ = true; }

 private:
  Transport& transport_;
  bool finished_ = false;
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
  begin(program);
  return finish(program, buffers, transport);
}

void Executor::begin(const Program& program, bool arrived) {
  progress_.assign(program.operations.size(), {});
  held_.clear();
  ready_.clear();
  queue_.clear();
  served_ = 0;
  slots_in_use_ = 0;
  next_ = 0;
  all_done_ = 0;
  examined_ = 0;
  damage_ = 0;
  open_ = program.operations.size();
  arrived_ = arrived;
}

int Executor::progress(const Program& program, Buffers& buffers, Transport& transport,
                       bool& moved) {
  const std::size_t open = open_;
  const std::size_t next = next_;
  Abandon unless(transport);
  int error = poll(transport);
  complete_received(program);
  if (error == 0) error = start_ready(program, buffers, transport);
  if (error == 0) error = advance(program, buffers, transport);
  moved = open_ != open || next_ != next;
  if (error == 0) unless.finished();
  return error;
}

int Executor::finish(const Program& program, Buffers& buffers, Transport& transport) {
  arrived_ = true;
  Abandon unless(transport);
  for (const int number : held_) check_needs(program, number);
  held_.clear();
  int error = start_ready(program, buffers, transport);
  if (error == 0) error = advance(program, buffers, transport);
  while (error == 0 && open_ > 0) {
    error = await(transport);
    complete_received(program);
    if (error == 0) error = start_ready(program, buffers, transport);
    if (error == 0) error = advance(program, buffers, transport);
  }
  if (error != 0) return error;
  unless.finished();
  return damage_;
}

/// Polls until something completes.
int Executor::await(Transport& transport) {
  int error = poll(transport);
  while (error == 0 && completed_.empty()) {
    transport.idle();
    error = poll(transport);
  }
  return error;
}

int Executor::advance(const Program& program, Buffers& buffers, Transport& transport) {
  for (; next_ < program.operations.size(); ++next_) {
    const Operation& operation = program.operations[next_];
    const auto number = static_cast<int>(next_);
    if (operation.kind == OperationKind::wait) {
      if (!is_over(operation)) return 0;
      complete(program, number);
    } else if (!arrived_ && operation.runner == Runner::caller) {
      held_.push_back(number);
    } else {
      check_needs(program, number);
      if (const int error = start_ready(program, buffers, transport)) return error;
    }
  }
  return 0;
}

/// Makes an operation ready, or lets it wait for the first of its needs that is not done.
void Executor::check_needs(const Program& program, int number) {
  const Operation& operation = program.operations[index(number)];
  Progress& known = at(number);
  for (known.need = std::max(known.need, operation.first_need); known.need < operation.last_need;
       ++known.need) {
    ++examined_;
    Progress& other = at(program.needs[index(known.need)]);
    if (other.done) continue;
    known.next_waiter = std::exchange(other.first_waiter, number);
    return;
  }
  if (operation.slots > 0) {
    queue_.push_back(number);
  } else {
    ready_.push_back(number);
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  }
}

int Executor::start_ready(const Program& program, Buffers& buffers, Transport& transport) {
  const auto has_slot = [&] {
    if (served_ == queue_.size()) return false;
    const auto first = index(queue_[served_]);
    return slots_in_use_ < program.operations[first].slots;
  };
  while (!ready_.empty() || has_slot()) {
    int number = 0;
    if (ready_.empty()) {
      number = queue_[served_++];
      ++slots_in_use_;
    } else {
      std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
      number = ready_.back();
      ready_.pop_back();
    }
    if (const int error = start(program, number, buffers, transport)) return error;
  }
  return 0;
}

int Executor::start(const Program& program, int number, Buffers& buffers, Transport& transport) {
  const Operation& operation = program.operations[index(number)];
  const bool sends = operation.kind == OperationKind::send;
  if (!sends && operation.kind != OperationKind::recv) {
    int error = 0;
    if (operation.kind == OperationKind::copy) {
      if (const int lost = copy(operation, buffers, transport, error)) return lost;
    } else {
      error = operation.kind == OperationKind::reduce ? buffers.reduce(operation.from, operation.to)
                                                      : buffers.run(operation);
    }
    // An error without a message must not make other ranks wait.
    if (damage_ == 0) damage_ = error;
    complete(program, number);
    return 0;
  }
  Region region;
  if (const int error = buffers.find(sends ? operation.from : operation.to, region)) return error;
  const int tag = tag_base_ + first_message_tag + operation.message % message_tags;
  return transport.begin(number, {sends, operation.peer, tag, region});
}

/// Copies, and sets `error` to that of the copy itself. Returns the error of a missing buffer.
int Executor::copy(const Operation& operation, Buffers& buffers, Transport& transport, int& error) {
  if (buffers.copy(operation.from, operation.to)) return 0;
  Region from;
  Region to;
  if (const int lost = buffers.find(operation.from, from)) return lost;
  if (const int lost = buffers.find(operation.to, to)) return lost;
  error = transport.copy(from, to);
  return 0;
}

/// Ends an operation, and examines again those that wait for it.
void Executor::complete(const Program& program, int number) {
  at(number).done = true;
  --open_;
  if (program.operations[index(number)].slots > 0) --slots_in_use_;
  for (int waiter = at(number).first_waiter; waiter != none;) {
    const int next = at(waiter).next_waiter;
    check_needs(program, waiter);
    waiter = next;
  }
}

void Executor::complete_received(const Program& program) {
  for (const int number : completed_) complete(program, number);
  completed_.clear();
}

int Executor::poll(Transport& transport) {
  completed_.clear();
  const int error = transport.poll(completed_);
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

int Executor::run(Protocol& protocol, Transport& transport) {
  Exchange exchange;
  Abandon unless(transport);
  damage_ = 0;
  while (protocol.next(exchange)) {
    int slot = 0;
    int error = 0;
    open_ = exchange.recvs.size() + exchange.sends.size();
    for (const Exchange::Message& message : exchange.recvs) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, false, tag_base_));
    }
    for (const Exchange::Message& message : exchange.sends) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, true, tag_base_));
    }
    while (error == 0 && open_ > 0) {
      error = await(transport);
      open_ -= completed_.size();
    }
    // Protocols cannot continue without the right words.
    if (error == 0) error = damage_;
    if (error != 0) return error;
  }
  unless.finished();
  return 0;
}

}  // namespace tutti
