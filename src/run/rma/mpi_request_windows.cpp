/// Windows as notifications: requests, descriptions and done counters.
#include <array>

#include "run/mpi/exchange.hpp"
#include "run/rma/mpi_notifications.hpp"
#include "run/rma/mpi_window.hpp"

namespace tutti {

namespace {

/// Three windows (Paznikov 2024, figures 3 to 6), which the ranks' threads poll:
///
///     requests       at a rank: how many requests each other rank has made of it, and how many of
///                    its own each has taken
///     descriptions   at a rank: the control messages of the latest 16 requests of each other rank
///     done counters  at a root: how many ranks have completed, for each of 64 operations
///
/// A request is a description, a flush, a counter and a flush: with the signal first, as printed,
/// that may overtake the description. The paper has one flag and one description for each pair of
/// ranks, which two roots with a common parent overwrite; here a sender waits while 16 requests are
/// not taken. Counters only grow, and are read by atomic operations of the rank on itself.
class RmaRequestWindows : public RmaNotifications {
 public:
  RmaRequestWindows(Rank rank, int p)
      : rank_(rank),
        p_(p),
        made_(index(p)),
        taken_(made_.size()),
        requested_(2 * made_.size()),
        completed_(counters),
        reported_(counters) {}

  int open(MPI_Comm comm) {
    const auto ranks = index(p_);
    int error = requests_.open(comm, 2 * ranks * sizeof(Count), sizeof(Count));
    if (error != MPI_SUCCESS) return error;
    error = descriptions_.open(comm, ranks * slots * sizeof(RmaControlMessage),
                               sizeof(RmaControlMessage));
    if (error == MPI_SUCCESS) {
      error = done_.open(comm, counters * sizeof(Count), sizeof(Count));
      if (error == MPI_SUCCESS) return error;
      static_cast<void>(descriptions_.close());
    }
    static_cast<void>(requests_.close());
    return error;
  }
  int close() override {
    for (AllocatedWindow* window : {&requests_, &descriptions_, &done_}) {
      if (const int error = window->close()) return error;
    }
    return MPI_SUCCESS;
  }

  [[nodiscard]] bool can_post(const RmaControlMessage& control, Rank to) const override {
    if (to == control.root) return true;
    const auto number = index(to);
    const Awaited& awaited = awaited_[index(control.operation) % counters];
    const bool is_counted =
        control.root != rank_ || !awaited.is_on || awaited.control.operation == control.operation;
    // The second half of the numbers counts this rank's requests that others have taken.
    const Count taken = requested_[index(p_) + number];
    return is_counted && made_[number] - taken < static_cast<Count>(slots);
  }

  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control, std::span<const Rank>,
                                             Bytes) override {
    composed_ = control;
    return {};
  }

  int post(Rank to) override {
    const auto counter = index(composed_.operation) % counters;
    if (to == composed_.root) return done_.add(1, to, counter);
    Awaited& awaited = awaited_[counter];
    if (composed_.root == rank_ && !awaited.is_on) awaited = {composed_, 0, true};
    const auto slot = index(made_[index(to)]++) % slots;
    const auto at = static_cast<MPI_Aint>(index(rank_) * slots + slot);
    constexpr int bytes = sizeof composed_;
    int error =
        mpi().Put(&composed_, bytes, mpi().byte, to, at, bytes, mpi().byte, descriptions_.handle);
    if (error == MPI_SUCCESS) error = mpi().Win_flush(to, descriptions_.handle);
    return error == MPI_SUCCESS ? requests_.add(1, to, index(rank_)) : error;
  }

  [[nodiscard]] std::optional<RmaMessage> take(int& error) override {
    RmaMessage received;
    error = MPI_SUCCESS;
    for (int reads = 0; reads < 2 && error == MPI_SUCCESS; ++reads) {
      if (take_done(received)) return received;
      for (Rank from = 0; from < p_; ++from) {
        const auto number = index(from);
        if (taken_[number] == requested_[number]) continue;
        error = take_request(from, received);
        return error == MPI_SUCCESS ? std::optional(received) : std::nullopt;
      }
      if (reads == 0) error = read_counters();
    }
    return std::nullopt;
  }

 private:
  using Count = std::int64_t;
  static constexpr std::size_t slots = 16;     ///< descriptions of one rank at another
  static constexpr std::size_t counters = 64;  ///< operations of a root whose ranks are counted

  /// An operation of this rank whose end the others count.
  struct Awaited {
    RmaControlMessage control;
    Rank heard = 0;  ///< ranks that have been reported, of all others
    bool is_on = false;
  };

  int read_counters() {
    if (const int error = requests_.read(requested_, rank_)) return error;
    for (const Awaited& awaited : awaited_) {
      if (awaited.is_on) return done_.read(completed_, rank_);
    }
    return MPI_SUCCESS;
  }

  /// Copies the oldest request of a rank. Senders learn of every 8th, so that few wait for it.
  int take_request(Rank from, RmaMessage& received) {
    Count& taken = taken_[index(from)];
    if (const int error = mpi().Win_sync(descriptions_.handle)) return error;
    const std::size_t slot = index(taken++) % slots;
    const auto* const own = static_cast<const RmaControlMessage*>(descriptions_.memory);
    received.from = from;
    received.control = own[index(from) * slots + slot];
    constexpr Count together = slots / 2;
    if (taken % together != 0) return MPI_SUCCESS;
    return requests_.add(together, from, index(p_ + rank_));
  }

  /// Counters do not name ranks: reports one rank after the other.
  bool take_done(RmaMessage& received) {
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

  Rank rank_;
  int p_;
  AllocatedWindow requests_;
  AllocatedWindow descriptions_;
  AllocatedWindow done_;
  RmaControlMessage composed_;
  std::vector<Count> made_;       ///< by rank: requests of this rank
  std::vector<Count> taken_;      ///< by rank: requests to this rank that take() has returned
  std::vector<Count> requested_;  ///< the numbers of `requests_`, as last read
  std::vector<Count> completed_;  ///< those of `done_`
  std::vector<Count> reported_;   ///< of `completed_`, by take()
  std::array<Awaited, counters> awaited_{};
};

}  // namespace

int open_request_windows(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made) {
  auto* const system = new RmaRequestWindows(rank_in(comm), size_of(comm));
  made.reset(system);
  return system->open(comm);
}

}  // namespace tutti
