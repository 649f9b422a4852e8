/// The loop that executes schedules and protocols.
#include "run/plan/executor.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// Tags of schedules are above those of protocols.
constexpr int first_message_tag = 1024;
/// Messages between two ranks that share a tag match in the sequence in which they begin.
constexpr int message_tags = 3072;
/// MPI grants tags up to 32767.
constexpr int tags_of_call = first_message_tag + message_tags;
constexpr std::int64_t distinguished_calls = 8;

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

void Executor::begin_call() {
  tag_base_ = static_cast<int>(++calls_ % distinguished_calls) * tags_of_call;
}

int Executor::run(const BufferAssignment& assignment, Buffers& buffers, Transport& transport) {
  begin(assignment);
  return finish(assignment, buffers, transport);
}

void Executor::begin(const BufferAssignment& assignment) {
  done_.assign(assignment.operations.size(), 0);
  deferred_.clear();
  slotted_.clear();
  next_ = 0;
  damage_ = 0;
  open_ = assignment.operations.size();
  arrived_ = false;
}

int Executor::progress(const BufferAssignment& assignment, Buffers& buffers, Transport& transport,
                       bool& moved) {
  const std::size_t open = open_;
  const std::size_t next = next_;
  Abandon unless(transport);
  int error = poll(transport);
  if (error == 0) error = start_deferred(assignment, buffers, transport);
  if (error == 0) error = advance(assignment, buffers, transport);
  moved = open_ != open || next_ != next;
  if (error == 0) unless.finished();
  return error;
}

int Executor::finish(const BufferAssignment& assignment, Buffers& buffers, Transport& transport) {
  arrived_ = true;
  Abandon unless(transport);
  int error = start_deferred(assignment, buffers, transport);
  if (error == 0) error = advance(assignment, buffers, transport);
  while (error == 0 && open_ > 0) {
    error = await(transport);
    if (error == 0) error = start_deferred(assignment, buffers, transport);
    if (error == 0) error = advance(assignment, buffers, transport);
  }
  if (error != 0) return error;
  unless.finished();
  return damage_;
}

/// Polls until something completes.
int Executor::await(Transport& transport) {
  const std::size_t before = open_;
  int error = poll(transport);
  while (error == 0 && open_ == before) {
    transport.idle();
    error = poll(transport);
  }
  return error;
}

int Executor::advance(const BufferAssignment& assignment, Buffers& buffers, Transport& transport) {
  for (; next_ < assignment.operations.size(); ++next_) {
    const Operation& operation = assignment.operations[next_];
    if (operation.kind == StepKind::wait) {
      if (!is_over(operation)) return 0;
      done_[next_] = 1;
      --open_;
    } else if (!may_start(assignment, operation)) {
      deferred_.push_back(static_cast<int>(next_));
    } else if (const int error = start(static_cast<int>(next_), operation, buffers, transport)) {
      return error;
    }
  }
  return 0;
}

int Executor::start_deferred(const BufferAssignment& assignment, Buffers& buffers,
                             Transport& transport) {
  for (std::size_t i = 0; i < deferred_.size();) {
    const int number = deferred_[i];
    const Operation& operation = assignment.operations[static_cast<std::size_t>(number)];
    if (!may_start(assignment, operation)) {
      ++i;
      continue;
    }
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
    if (const int error = start(number, operation, buffers, transport)) return error;
  }
  return 0;
}

int Executor::start(int number, const Operation& operation, Buffers& buffers,
                    Transport& transport) {
  if (operation.kind == StepKind::copy) return copy(number, operation, buffers, transport);
  if (operation.kind == StepKind::reduce) {
    finish_local(number, buffers.reduce(operation.from, operation.to));
    return 0;
  }
  const bool sends = operation.kind == StepKind::send;
  Region region;
  if (const int error = buffers.find(sends ? operation.from : operation.to, region)) return error;
  if (operation.slots > 0) slotted_.push_back(number);
  const int tag = tag_base_ + first_message_tag + operation.message % message_tags;
  return transport.begin(number, {sends, operation.peer, tag, region});
}

int Executor::copy(int number, const Operation& operation, Buffers& buffers, Transport& transport) {
  if (!buffers.copy(operation.from, operation.to)) {
    Region from;
    Region to;
    if (const int error = buffers.find(operation.from, from)) return error;
    if (const int error = buffers.find(operation.to, to)) return error;
    finish_local(number, transport.copy(from, to));
    return 0;
  }
  finish_local(number, 0);
  return 0;
}

/// Ends an operation without a message. An error in it must not make other ranks wait.
void Executor::finish_local(int number, int error) {
  if (damage_ == 0) damage_ = error;
  done_[static_cast<std::size_t>(number)] = 1;
  --open_;
}

int Executor::poll(Transport& transport) {
  completed_.clear();
  const int error = transport.poll(completed_);
  if (error != 0 && completed_.empty()) return error;
  if (damage_ == 0) damage_ = error;
  for (const int number : completed_) {
    done_[static_cast<std::size_t>(number)] = 1;
    if (!slotted_.empty()) std::erase(slotted_, number);
  }
  open_ -= completed_.size();
  return 0;
}

bool Executor::is_over(const Operation& wait) {
  return std::all_of(done_.begin() + wait.first, done_.begin() + wait.last,
                     [](char done) { return done != 0; });
}

bool Executor::may_start(const BufferAssignment& assignment, const Operation& operation) {
  if (!arrived_ && operation.runner == Runner::caller) return false;
  if (operation.slots > 0 && slotted_.size() >= static_cast<std::size_t>(operation.slots)) {
    return false;
  }
  return std::all_of(assignment.needs.begin() + operation.first_need,
                     assignment.needs.begin() + operation.last_need,
                     [&](int need) { return done_[static_cast<std::size_t>(need)] != 0; });
}

int Executor::run(Protocol& protocol, Transport& transport) {
  Exchange exchange;
  slotted_.clear();
  Abandon unless(transport);
  damage_ = 0;
  while (protocol.next(exchange)) {
    int slot = 0;
    int error = 0;
    open_ = exchange.recvs.size() + exchange.sends.size();
    done_.assign(open_, 0);
    for (const Exchange::Message& message : exchange.recvs) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, false, tag_base_));
    }
    for (const Exchange::Message& message : exchange.sends) {
      if (error == 0) error = transport.begin(slot++, transfer_of(message, true, tag_base_));
    }
    while (error == 0 && open_ > 0) error = await(transport);
    // Protocols cannot continue without the right words.
    if (error == 0) error = damage_;
    if (error != 0) return error;
  }
  unless.finished();
  return 0;
}

}  // namespace tutti
