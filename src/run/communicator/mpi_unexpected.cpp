/// Receives unexpected messages, and hands them over to calls.
#include "run/communicator/mpi_unexpected.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "run/clock.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/mpi/exchange.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// Further messages stay with the MPI.
constexpr std::size_t max_kept_bytes = std::size_t{256} << 20;

}  // namespace

UnexpectedMessages::UnexpectedMessages(Transport& inner, PrivateComm& comm)
    : inner_(inner), comm_(comm.handle()), calls_(comm, *this) {
  Background::of_process().add(*this);
}

UnexpectedMessages::~UnexpectedMessages() {
  Background::of_process().remove(*this);
  for (Message& message : messages_) {
    if (!message.is_here && !cancel_receive(message.request)) leak(message.packed);
  }
}

bool UnexpectedMessages::settle() {
  constexpr double max_seconds = 5;
  Background::of_process().remove(*this);
  double since = monotonic_seconds();
  while (calls_.expects_announcements() && error_ == MPI_SUCCESS &&
         monotonic_seconds() - since < max_seconds) {
    bool moved = false;
    receive(moved);
    if (moved) since = monotonic_seconds();
    if (!moved) sched_yield();
  }
  return !calls_.expects_announcements();
}

void UnexpectedMessages::expect() {
  if (calls_without_.exchange(0) > max_calls_without) Background::of_process().wake();
}

BackgroundTask::Progress UnexpectedMessages::proceed() {
  if (calls_without_ > max_calls_without) return Progress::nothing_expected;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Progress::waiting;
  bool any = false;
  try {
    if (error_ == MPI_SUCCESS) receive(any);
    if (error_ == MPI_SUCCESS) error_ = calls_.proceed(any);
  } catch (const std::bad_alloc&) {
    // The message stays with the MPI until the program receives it.
  }
  return any ? Progress::moved : Progress::waiting;
}

/// Receives all messages that have arrived, until an error.
void UnexpectedMessages::receive(bool& moved) {
  for (bool more = true; error_ == MPI_SUCCESS && more; moved = moved || more) {
    error_ = receive_next(more);
  }
  for (Message& message : messages_) {
    if (error_ == MPI_SUCCESS) error_ = test(message);
  }
  take_announcements();
}

void UnexpectedMessages::take_announcements() {
  std::erase_if(messages_, [this](const Message& message) {
    if (message.tag != AsyncCalls::announcement_tag || !message.is_here) return false;
    AsyncCalls::CallAnnouncement announcement{};
    std::memcpy(&announcement, message.packed.data(),
                std::min(sizeof announcement, message.packed.size()));
    calls_.take(announcement);
    kept_ -= message.packed.size();
    return true;
  });
}

/// Only the owner of the turn receives on this communicator, so the probed message is still the
/// first of its sender and tag when the receive is posted.
int UnexpectedMessages::receive_next(bool& moved) {
  moved = false;
  int found = 0;
  MPI_Status status{};
  int error = mpi().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, &status);
  if (error != MPI_SUCCESS || found == 0) return error;
  int bytes = 0;
  error = mpi().Get_count(&status, mpi().packed, &bytes);
  if (error != MPI_SUCCESS || bytes == MPI_UNDEFINED) return error;
  if (kept_ + static_cast<std::size_t>(bytes) > max_kept_bytes) return MPI_SUCCESS;
  Message message = {status.MPI_SOURCE, status.MPI_TAG,
                     std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  messages_.push_back(std::move(message));
  Message& kept = messages_.back();
  error = mpi().Irecv(kept.packed.data(), bytes, mpi().packed, kept.peer, kept.tag, comm_,
                      &kept.request);
  if (error != MPI_SUCCESS) {
    messages_.pop_back();
    return error;
  }
  kept_ += kept.packed.size();
  moved = true;
  return MPI_SUCCESS;
}

int UnexpectedMessages::test(Message& message) {
  if (message.is_here) return MPI_SUCCESS;
  int completed = 0;
  const int error = mpi().Test(&message.request, &completed, MPI_STATUS_IGNORE);
  message.is_here = completed != 0;
  return error;
}

int UnexpectedMessages::begin(int slot, const Transfer& transfer) {
  if (error_ != MPI_SUCCESS) return error_;
  if (transfer.sends) return inner_.begin(slot, transfer);
  const auto found = std::ranges::find_if(messages_, [&](const Message& message) {
    return !message.is_claimed && message.peer == transfer.peer && message.tag == transfer.tag;
  });
  if (found == messages_.end()) return inner_.begin(slot, transfer);
  found->is_claimed = true;
  found->slot = slot;
  found->region = transfer.region;
  return MPI_SUCCESS;
}

int UnexpectedMessages::poll(std::vector<int>& completed) {
  int damage = MPI_SUCCESS;
  for (auto message = messages_.begin(); message != messages_.end();) {
    if (message->is_claimed) {
      if (const int error = test(*message)) return error;
    }
    if (!message->is_claimed || !message->is_here) {
      ++message;
      continue;
    }
    if (const int error = hand_over(*message)) damage = error;
    completed.push_back(message->slot);
    kept_ -= message->packed.size();
    message = messages_.erase(message);
  }
  const int error = inner_.poll(completed);
  return damage == MPI_SUCCESS ? error : damage;
}

/// Copies a message to the call's buffer. Refuses one that is too long, as a receive would.
int UnexpectedMessages::hand_over(Message& message) {
  const auto bytes = static_cast<std::int64_t>(message.packed.size());
  return bytes == 0 ? MPI_SUCCESS : inner_.copy({message.packed.data(), bytes, 0}, message.region);
}

void UnexpectedMessages::abandon() {
  for (Message& message : messages_) message.is_claimed = false;
  inner_.abandon();
}

}  // namespace tutti
