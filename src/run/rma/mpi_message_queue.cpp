/// Messages as notifications: posted receives in a ring, and sends that no thread waits for.
#include <array>
#include <cstring>
#include <list>
#include <utility>

#include "run/mpi/exchange.hpp"
#include "run/rma/mpi_notifications.hpp"

namespace tutti {

namespace {

constexpr int tag = 0;
constexpr int max_on_way = 16;
constexpr std::size_t max_spare = 16;
/// Open MPI polls its sockets at every eighth call only.
constexpr int polls = 8;

class RmaMessageQueue : public RmaNotifications {
 public:
  RmaMessageQueue(MPI_Comm comm, int p) : comm_(comm), p_(p), on_way_(index(p)) {}

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

  /// False while the MPI holds the maximum number of messages to that rank.
  [[nodiscard]] bool can_post(const RmaControlMessage&, Rank to) const override {
    return on_way_[index(to)] < max_on_way;
  }

  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control, std::span<const Rank> order,
                                             Bytes carried) override {
    if (spare_.empty()) spare_.emplace_front();
    std::vector<std::byte>& message = spare_.front().message;
    control.listed = static_cast<std::int32_t>(order.size());
    const std::size_t listed = order.size_bytes();
    message.resize(sizeof control + listed + static_cast<std::size_t>(carried));
    std::memcpy(message.data(), &control, sizeof control);
    if (listed > 0) std::memcpy(message.data() + sizeof control, order.data(), listed);
    return std::span(message).subspan(sizeof control + listed);
  }

  int post(Rank to) override {
    sends_.splice(sends_.end(), spare_, spare_.begin());
    Send& send = sends_.back();
    send.to = to;
    ++on_way_[index(to)];
    return mpi().Isend(send.message.data(), static_cast<int>(send.message.size()), mpi().byte, to,
                       tag, comm_, &send.request);
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
  struct Send {
    MPI_Request request = mpi().request_null;
    Rank to = no_rank;
    std::vector<std::byte> message;
  };
  struct Receive {
    MPI_Request request{};
    std::vector<std::byte> message;
  };

  int receive(Receive& receive) {
    return mpi().Irecv(receive.message.data(), static_cast<int>(receive.message.size()), mpi().byte,
                       MPI_ANY_SOURCE, tag, comm_, &receive.request);
  }

  int forget_sent() {
    for (auto send = sends_.begin(); send != sends_.end();) {
      int is_sent = 0;
      const int error = mpi().Test(&send->request, &is_sent, MPI_STATUS_IGNORE);
      if (error != MPI_SUCCESS) return error;
      const auto tested = send++;
      if (is_sent == 0) continue;
      --on_way_[index(tested->to)];
      spare_.splice(spare_.begin(), sends_, tested);
      if (spare_.size() > max_spare) spare_.pop_back();
    }
    return MPI_SUCCESS;
  }

  MPI_Comm comm_;
  int p_;
  std::array<Receive, 8> receives_;  ///< a ring, in the sequence in which messages fill them
  std::size_t next_ = 0;             ///< the receive that is filled next
  Receive* taken_ = nullptr;         ///< its message is in use by the caller
  std::list<Send> sends_;
  std::list<Send> spare_;    ///< whose memory is reused; the one that was composed last is first
  std::vector<int> on_way_;  ///< by rank: number of `sends_` to it
};

}  // namespace

int open_message_queue(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made) {
  auto* const queue = new RmaMessageQueue(comm, size_of(comm));
  made.reset(queue);
  return queue->open();
}

}  // namespace tutti
