/// How threads take turns at the channel.
#include "run/arrival/message_queue.hpp"

#include <utility>

namespace tutti {

void MessageQueue::open(std::unique_ptr<ControlChannel> channel, Reader reader) {
  const std::lock_guard turn(turn_);
  channel_ = std::move(channel);
  reader_ = std::move(reader);
}

void MessageQueue::close() {
  const std::lock_guard turn(turn_);
  channel_.reset();
}

void MessageQueue::write(Rank to, ControlWords words) {
  const std::lock_guard lock(mutex_);
  written_.push_back({to, std::move(words)});
}

bool MessageQueue::take_turn() {
  bool any = false;
  do {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) break;
    for (bool moved = true; moved; any = any || moved) exchange(moved);
    // A writer may have found the turn taken, so this thread checks again after it gives it up.
  } while (is_written());
  return any;
}

int MessageQueue::take_own_turn(bool& over) {
  const std::lock_guard turn(turn_);
  bool moved = false;
  const int error = exchange(moved);
  over = channel_ == nullptr || (channel_->is_empty() && !is_written());
  return error;
}

int MessageQueue::first_error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void MessageQueue::fail(int error) {
  const std::lock_guard lock(mutex_);
  if (error_ == 0) error_ = error;
}

/// Continues after an error, so that the ranks that can be reached get their messages. Requires the
/// turn.
int MessageQueue::exchange(bool& moved) {
  moved = false;
  std::list<ControlMessage> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(written_);
  }
  if (channel_ == nullptr) return 0;  // closed
  int first = 0;
  try {
    for (; !messages.empty(); messages.pop_front()) {
      const int error = channel_->send(messages.front().to, messages.front().words);
      if (first == 0) first = error;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    written_.splice(written_.begin(), messages);
    throw;
  }
  Rank from = no_rank;
  std::vector<std::int64_t> words;
  const int received = channel_->receive(from, words);
  if (first == 0) first = received;
  if (first != 0) fail(first);
  moved = !words.empty();
  if (moved) reader_(from, words);
  return first;
}

bool MessageQueue::is_written() const {
  const std::lock_guard lock(mutex_);
  return !written_.empty();
}

}  // namespace tutti
