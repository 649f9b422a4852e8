/// Posted receives in a ring, and sends that no thread waits for.
#include "run/rma/mpi_message_queue.hpp"

#include <cstring>
#include <utility>

#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

constexpr int tag = 0;
constexpr int max_on_way = 16;
constexpr std::size_t max_spare = 16;
/// Open MPI polls its sockets at every eighth call only.
constexpr int polls = 8;

}  // namespace

int RmaMessageQueue::open(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made) {
  const int p = size_of(comm);
  auto* const queue = new RmaMessageQueue(comm, p);
  made.reset(queue);
  if (p == 1) return MPI_SUCCESS;
  for (Receive& each : queue->receives_) {
    each.message.resize(sizeof(RmaControlMessage) + static_cast<std::size_t>(p) * sizeof(Rank) +
                        static_cast<std::size_t>(max_carried));
    if (const int error = queue->receive(each)) return error;
  }
  return MPI_SUCCESS;
}

int RmaMessageQueue::receive(Receive& receive) {
  return mpi().Irecv(receive.message.data(), static_cast<int>(receive.message.size()), mpi().byte,
                     MPI_ANY_SOURCE, tag, comm_, &receive.request);
}

int RmaMessageQueue::close() {
  while (!sends_.empty()) {
    if (const int error = forget_sent()) return error;
  }
  if (p_ == 1) return MPI_SUCCESS;
  for (Receive& each : receives_) {
    if (&each == taken_) continue;
    int error = mpi().Cancel(&each.request);
    for (int over = 0; error == MPI_SUCCESS && over == 0;) {
      error = mpi().Test(&each.request, &over, MPI_STATUS_IGNORE);
    }
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

bool RmaMessageQueue::can_post(const RmaControlMessage&, Rank to) const {
  return on_way_[static_cast<std::size_t>(to)] < max_on_way;
}

std::span<std::byte> RmaMessageQueue::compose(RmaControlMessage control,
                                              const std::vector<Rank>& order, Bytes carried) {
  if (!spare_.empty()) {
    composed_ = std::move(spare_.back());
    spare_.pop_back();
  }
  control.listed = static_cast<std::int32_t>(order.size());
  const std::size_t listed = order.size() * sizeof(Rank);
  composed_.resize(sizeof control + listed + static_cast<std::size_t>(carried));
  std::memcpy(composed_.data(), &control, sizeof control);
  if (listed > 0) std::memcpy(composed_.data() + sizeof control, order.data(), listed);
  return std::span(composed_).subspan(sizeof control + listed);
}

int RmaMessageQueue::post(Rank to) {
  sends_.push_back(mpi().request_null);
  receivers_.push_back(to);
  messages_.push_back(std::move(composed_));
  ++on_way_[static_cast<std::size_t>(to)];
  const auto& message = messages_.back();
  return mpi().Isend(message.data(), static_cast<int>(message.size()), mpi().byte, to, tag, comm_,
                     &sends_.back());
}

/// Reuses the memory of completed sends.
int RmaMessageQueue::forget_sent() {
  if (sends_.empty()) return MPI_SUCCESS;
  const int all = static_cast<int>(sends_.size());
  int count = 0;
  sent_.resize(sends_.size());
  const int error = mpi().Testsome(all, sends_.data(), &count, sent_.data(), MPI_STATUSES_IGNORE);
  if (error != MPI_SUCCESS || count == 0) return error;
  for (std::size_t i = sends_.size(); i-- > 0;) {
    if (sends_[i] != mpi().request_null) continue;
    --on_way_[static_cast<std::size_t>(receivers_[i])];
    if (spare_.size() < max_spare) spare_.push_back(std::move(messages_[i]));
    sends_[i] = sends_.back();
    receivers_[i] = receivers_.back();
    std::swap(messages_[i], messages_.back());
    sends_.pop_back();
    receivers_.pop_back();
    messages_.pop_back();
  }
  return MPI_SUCCESS;
}

std::optional<RmaMessage> RmaMessageQueue::take(int& error) {
  error = forget_sent();
  if (p_ == 1 || error != MPI_SUCCESS) return std::nullopt;
  if (taken_ != nullptr) error = receive(*std::exchange(taken_, nullptr));
  Receive& oldest = receives_[next_];
  MPI_Status status{};
  int found = 0;
  for (int poll = 0; poll < polls && found == 0 && error == MPI_SUCCESS; ++poll) {
    error = mpi().Test(&oldest.request, &found, &status);
  }
  if (found == 0 || error != MPI_SUCCESS) return std::nullopt;
  int bytes = 0;
  error = mpi().Get_count(&status, mpi().byte, &bytes);
  next_ = (next_ + 1) % receives_.size();
  taken_ = &oldest;
  RmaMessage received;
  received.from = status.MPI_SOURCE;
  std::memcpy(&received.control, oldest.message.data(), sizeof received.control);
  received.order.resize(static_cast<std::size_t>(received.control.listed));
  const std::size_t listed = received.order.size() * sizeof(Rank);
  const auto rest = std::span(oldest.message)
                        .first(static_cast<std::size_t>(bytes))
                        .subspan(sizeof received.control);
  if (listed > 0) std::memcpy(received.order.data(), rest.data(), listed);
  received.carried = rest.subspan(listed);
  return received;
}

}  // namespace tutti
