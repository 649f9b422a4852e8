/// Messages as notifications: posted receives in a ring, and sends that no thread waits for.
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "run/mpi/exchange.hpp"
#include "run/process.hpp"
#include "run/rma/mpi_notifications.hpp"

namespace tutti {

namespace {

constexpr int tag = 0;
constexpr std::size_t max_on_way = 16;
/// Open MPI polls its sockets at every eighth call only.
constexpr int polls = 8;

class RmaMessageQueue : public RmaNotifications {
 public:
  RmaMessageQueue(MPI_Comm comm, int p) : comm_(comm), p_(p) {}

  int open() {
    if (p_ == 1) return MPI_SUCCESS;
    for (Receive& each : receives_) {
      each.message.resize(sizeof(RmaControlMessage) + index(p_) * sizeof(Rank) +
                          static_cast<std::size_t>(max_carried));
      if (const int error = receive(each)) return error;
    }
    return MPI_SUCCESS;
  }
  int close() override {
    while (!sent_.empty()) {
      if (const int error = forget_sent()) return error;
    }
    if (p_ == 1) return MPI_SUCCESS;
    for (Receive& each : receives_) {
      if (&each != taken_ && !cancel_receive(each.request)) leak(each.message);
    }
    return MPI_SUCCESS;
  }

  /// False while the MPI holds the maximum number of messages to that rank.
  [[nodiscard]] bool can_post(const RmaControlMessage&, Rank to) const override {
    const auto sent = sent_.find(to);
    return sent == sent_.end() || sent->second.size() < max_on_way;
  }

  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control, std::span<const Rank> order,
                                             Bytes carried) override {
    control.listed = static_cast<std::int32_t>(order.size());
    const std::size_t before = sizeof control + order.size_bytes();
    bytes_ = before + static_cast<std::size_t>(carried);
    composed_ = std::make_shared_for_overwrite<std::byte[]>(bytes_);
    std::memcpy(composed_.get(), &control, sizeof control);
    if (!order.empty()) {
      std::memcpy(composed_.get() + sizeof control, order.data(), order.size_bytes());
    }
    return {composed_.get() + before, composed_.get() + bytes_};
  }

  int post(Rank to) override {
    return sent_[to].send(std::move(composed_), bytes_, to, tag, comm_);
  }

  [[nodiscard]] std::optional<RmaMessage> take(int& error) override {
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
    received.order.resize(index(received.control.listed));
    const std::size_t listed = received.order.size() * sizeof(Rank);
    const auto rest = std::span(oldest.message)
                          .first(static_cast<std::size_t>(bytes))
                          .subspan(sizeof received.control);
    if (listed > 0) std::memcpy(received.order.data(), rest.data(), listed);
    received.carried = rest.subspan(listed);
    return received;
  }

 private:
  struct Receive {
    MPI_Request request{};
    std::vector<std::byte> message;
  };

  int receive(Receive& receive) {
    return mpi().Irecv(receive.message.data(), static_cast<int>(receive.message.size()), mpi().byte,
                       MPI_ANY_SOURCE, tag, comm_, &receive.request);
  }

  int forget_sent() {
    for (auto each = sent_.begin(); each != sent_.end();) {
      if (const int error = each->second.forget_sent()) return error;
      each = each->second.empty() ? sent_.erase(each) : std::next(each);
    }
    return MPI_SUCCESS;
  }

  MPI_Comm comm_;
  int p_;
  std::array<Receive, 8> receives_;    ///< a ring, in the sequence in which messages fill them
  std::size_t next_ = 0;               ///< the receive that is filled next
  Receive* taken_ = nullptr;           ///< its message is in use by the caller
  std::map<Rank, SentMessages> sent_;  ///< by receiver
  std::shared_ptr<std::byte[]> composed_;
  std::size_t bytes_ = 0;  ///< of `composed_`
};

}  // namespace

int open_message_queue(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made) {
  auto* const queue = new RmaMessageQueue(comm, size_of(comm));
  made.reset(queue);
  return queue->open();
}

}  // namespace tutti
