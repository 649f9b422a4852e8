/// Requests, descriptions and done counters in windows.
#include "run/rma/mpi_request_windows.hpp"

#include "run/mpi/exchange.hpp"

namespace tutti {

RmaRequestWindows::RmaRequestWindows(Rank rank, int p)
    : rank_(rank),
      p_(p),
      made_(static_cast<std::size_t>(p)),
      taken_(made_.size()),
      requested_(2 * made_.size()),
      completed_(counters),
      reported_(counters) {}

int RmaRequestWindows::open(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made) {
  auto* const system = new RmaRequestWindows(rank_in(comm), size_of(comm));
  made.reset(system);
  const auto ranks = static_cast<std::size_t>(system->p_);
  int error = system->requests_.open(comm, 2 * ranks * sizeof(Count), sizeof(Count));
  if (error == MPI_SUCCESS) {
    error = system->descriptions_.open(comm, ranks * slots * sizeof(RmaControlMessage),
                                       sizeof(RmaControlMessage));
  }
  if (error == MPI_SUCCESS)
    error = system->done_.open(comm, counters * sizeof(Count), sizeof(Count));
  return error;
}

int RmaRequestWindows::close() {
  for (AllocatedWindow* window : {&requests_, &descriptions_, &done_}) {
    if (const int error = window->close()) return error;
  }
  return MPI_SUCCESS;
}

bool RmaRequestWindows::can_post(const RmaControlMessage& control, Rank to) const {
  if (to == control.root) return true;
  const auto number = static_cast<std::size_t>(to);
  const Awaited& awaited = awaited_[static_cast<std::size_t>(control.operation) % counters];
  const bool is_counted =
      control.root != rank_ || !awaited.is_on || awaited.control.operation == control.operation;
  // The second half of the numbers counts this rank's requests that others have taken.
  const Count taken = requested_[static_cast<std::size_t>(p_) + number];
  return is_counted && made_[number] - taken < static_cast<Count>(slots);
}

std::span<std::byte> RmaRequestWindows::compose(RmaControlMessage control, const std::vector<Rank>&,
                                                Bytes) {
  composed_ = control;
  return {};
}

int RmaRequestWindows::post(Rank to) {
  const auto counter = static_cast<std::size_t>(composed_.operation) % counters;
  if (to == composed_.root) return done_.add(1, to, counter);
  Awaited& awaited = awaited_[counter];
  if (composed_.root == rank_ && !awaited.is_on) awaited = {composed_, 0, true};
  const auto slot = static_cast<std::size_t>(made_[static_cast<std::size_t>(to)]++) % slots;
  const auto at = static_cast<MPI_Aint>(static_cast<std::size_t>(rank_) * slots + slot);
  constexpr int bytes = sizeof composed_;
  int error =
      mpi().Put(&composed_, bytes, mpi().byte, to, at, bytes, mpi().byte, descriptions_.handle);
  if (error == MPI_SUCCESS) error = mpi().Win_flush(to, descriptions_.handle);
  return error == MPI_SUCCESS ? requests_.add(1, to, static_cast<std::size_t>(rank_)) : error;
}

int RmaRequestWindows::read_counters() {
  if (const int error = requests_.read(requested_, rank_)) return error;
  for (const Awaited& awaited : awaited_) {
    if (awaited.is_on) return done_.read(completed_, rank_);
  }
  return MPI_SUCCESS;
}

/// Copies the oldest request of a rank. Senders learn of every 8th, so that few wait for it.
int RmaRequestWindows::take_request(Rank from, RmaMessage& received) {
  Count& taken = taken_[static_cast<std::size_t>(from)];
  if (const int error = mpi().Win_sync(descriptions_.handle)) return error;
  const std::size_t slot = static_cast<std::size_t>(taken++) % slots;
  const auto* const own = static_cast<const RmaControlMessage*>(descriptions_.memory);
  received.from = from;
  received.control = own[static_cast<std::size_t>(from) * slots + slot];
  constexpr Count together = slots / 2;
  if (taken % together != 0) return MPI_SUCCESS;
  return requests_.add(together, from, static_cast<std::size_t>(p_ + rank_));
}

/// Counters do not name ranks: reports one rank after the other.
bool RmaRequestWindows::take_done(RmaMessage& received) {
  for (std::size_t counter = 0; counter < counters; ++counter) {
    Awaited& awaited = awaited_[counter];
    if (!awaited.is_on || reported_[counter] == completed_[counter]) continue;
    ++reported_[counter];
    received.control = awaited.control;
    received.from = awaited.heard + (awaited.heard >= rank_ ? 1 : 0);
    awaited.is_on = ++awaited.heard < p_ - 1;
    return true;
  }
  return false;
}

std::optional<RmaMessage> RmaRequestWindows::take(int& error) {
  RmaMessage received;
  error = MPI_SUCCESS;
  for (int reads = 0; reads < 2 && error == MPI_SUCCESS; ++reads) {
    if (take_done(received)) return received;
    for (Rank from = 0; from < p_; ++from) {
      const auto number = static_cast<std::size_t>(from);
      if (taken_[number] == requested_[number]) continue;
      error = take_request(from, received);
      return error == MPI_SUCCESS ? std::optional(received) : std::nullopt;
    }
    if (reads == 0) error = read_counters();
  }
  return std::nullopt;
}

}  // namespace tutti
