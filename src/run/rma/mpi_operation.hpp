/// One rank's view of a one-sided operation: its progress, and the memory of its blocks.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "run/plan/executor.hpp"
#include "run/rma/mpi_notifications.hpp"
#include "run/rma/mpi_window.hpp"

namespace tutti {

/// The outcome of an operation, for the root that has begun it.
struct RmaOutcome {
  std::atomic<bool> is_over = false;
  int error = MPI_SUCCESS;  ///< set before is_over
};

/// A predefined operation that commutes, with a predefined type, in one word that is equal on all
/// ranks; 0 for other operations.
[[nodiscard]] std::int64_t combination_of(MPI_Op op, MPI_Datatype type);

/// One operation at one rank: its program, which runs up to an operation that must wait for others.
/// Its messages are notifications. The user's buffer is Area::send or Area::receive of the root.
class RmaOperation final : public Buffers, public Transport, NotCopied {
 public:
  /// `order` is empty if it follows from the specification. `users` is the program's buffer at the
  /// root: a vector, or p blocks by rank, packed.
  RmaOperation(const RmaControlMessage& control, std::vector<Rank> order, std::byte* users,
               std::shared_ptr<RmaOutcome> outcome)
      : control_(control), listed_(std::move(order)), users_(users), outcome_(std::move(outcome)) {}

  /// Makes the program. The window and the notifications must outlive the operation.
  void start(const Nodes& nodes, Rank rank, RmaWindow& window, RmaNotifications& notifications);
  /// Runs the program as far as possible, and sets `moved` if it made progress. Returns an MPI
  /// error code.
  int proceed(bool& moved);
  [[nodiscard]] bool is_done() const { return executor_.is_done(); }
  /// Takes the bytes of a notification that has come, or keeps them for a later receive.
  void hear(Rank from, std::span<const std::byte> carried);

  [[nodiscard]] const RmaControlMessage& control() const { return control_; }
  [[nodiscard]] bool flows_to_root() const { return flows_to_root_; }
  [[nodiscard]] bool at_root() const { return outcome_ != nullptr; }
  /// At the root: sets the outcome for the program.
  void finish(int error) {
    outcome_->error = error;
    outcome_->is_over = true;
  }

  /// A region is the reference itself, whose blocks may be scattered.
  int find(const BufferRef& ref, Region& region) override;
  bool copy(const BufferRef& from, const BufferRef& to) override;
  int reduce(const BufferRef& from, const BufferRef& to) override;
  int run(const Operation& operation) override;

  int begin(int slot, const Transfer& transfer) override;
  int poll(std::vector<int>& completed) override;
  int copy(const Region&, const Region&) override { return MPI_ERR_INTERN; }
  void idle() override {}
  void abandon() override {}

 private:
  [[nodiscard]] const BufferRef& message() const {
    return *static_cast<const BufferRef*>(open_.region.address);
  }
  int notify();
  void take(std::span<const std::byte> carried);
  /// The order to send along to `peer`, if that has not received the operation yet; else an empty
  /// one.
  [[nodiscard]] std::span<const Rank> order_for(Rank peer);
  [[nodiscard]] std::byte* memory_of(const BufferRef& ref);
  /// Calls visit(memory, bytes) for the next `bytes` bytes of the message.
  template <class Visit>
  void for_each_piece(Bytes bytes, Visit visit);

  RmaControlMessage control_;
  std::vector<Rank> listed_;
  std::set<Rank> introduced_;  ///< ranks that have been sent the order
  std::byte* users_;
  std::shared_ptr<RmaOutcome> outcome_;
  bool flows_to_root_ = false;
  Program program_;
  Executor executor_;
  Order order_ = Order::identity(1);
  Position position_ = 0;
  RmaWindow* window_ = nullptr;
  RmaNotifications* notifications_ = nullptr;
  std::vector<std::byte> staging_;
  std::map<Rank, std::deque<std::vector<std::byte>>> heard_;
  // Each operation of the program needs the one before, so that one message is open at most.
  Transfer open_;
  int slot_ = -1;             ///< of the open message; -1: none
  bool is_complete_ = false;  ///< the open message is
  Bytes moved_ = 0;           ///< bytes of it in earlier notifications
};

}  // namespace tutti
