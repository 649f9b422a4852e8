/// One rank's view of a one-sided operation: its progress, and the memory of its blocks.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "lowering/program.hpp"
#include "run/rma/control_message.hpp"
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

/// The root's arguments of an operation.
struct RmaCall {
  Specification specification;
  RmaRegion region;            ///< in each window: the vector, or a rank's block
  std::byte* users = nullptr;  ///< the program's buffer: a vector, or p blocks by rank; packed
  std::int64_t combination = 0;
  std::vector<Rank> order = {};  ///< empty: follows from the specification
};

/// One operation at one rank: its program, and the operation at which that is suspended. The user's
/// buffer is Area::send or Area::receive of the root.
class RmaOperation {
 public:
  /// `order` is empty if it follows from the specification.
  RmaOperation(const RmaControlMessage& control, std::vector<Rank> order, std::byte* users,
               std::shared_ptr<RmaOutcome> outcome)
      : control_(control), listed_(std::move(order)), users_(users), outcome_(std::move(outcome)) {}

  /// Makes the program. `window` is the region's address in this rank's window.
  void begin(const Nodes& nodes, Rank rank, std::byte* window);
  /// The next operation; null at the end.
  [[nodiscard]] const Operation* next() const {
    return at_ < program_.operations.size() ? &program_.operations[at_] : nullptr;
  }
  void done() {
    ++at_;
    moved_ = 0;
  }

  [[nodiscard]] const RmaControlMessage& control() const { return control_; }
  [[nodiscard]] RmaRegion region() const { return {control_.displacement, control_.bytes}; }
  [[nodiscard]] bool flows_to_root() const { return flows_to_root_; }
  /// The order to send along to `peer`, if that has not received the operation yet; else an empty
  /// one.
  [[nodiscard]] const std::vector<Rank>& order_for(Rank peer);
  [[nodiscard]] bool at_root() const { return outcome_ != nullptr; }
  /// At the root: sets the outcome for the program.
  void finish(int error) {
    outcome_->error = error;
    outcome_->is_over = true;
  }

  /// Takes the bytes of a notification that has come, or keeps them for a later receive.
  void hear(Rank from, std::span<const std::byte> carried);
  /// Takes kept bytes for this receive, which is next. True if it has all of its bytes.
  [[nodiscard]] bool take_heard(const Operation& receive);
  /// The bytes of a send that is next and have not been sent yet.
  [[nodiscard]] Bytes left_of(const Operation& send) const { return send.from.bytes - moved_; }
  /// Copies the next of them into a message.
  void take_next(const Operation& send, std::span<std::byte> message);
  void copy(const Operation& copy);
  /// Returns an MPI error code.
  int combine(const Operation& reduce);
  /// The first byte of a reference.
  [[nodiscard]] std::byte* memory_of(const BufferRef& ref);

 private:
  [[nodiscard]] bool take(const Operation& receive, std::span<const std::byte> carried);
  /// Calls visit(memory, bytes) for the `bytes` bytes of a reference from byte moved_ on.
  template <class Visit>
  void for_each_piece(const BufferRef& ref, Bytes bytes, Visit visit);

  RmaControlMessage control_;
  std::vector<Rank> listed_;
  std::set<Rank> introduced_;  ///< ranks that have been sent the order
  std::byte* users_;
  std::shared_ptr<RmaOutcome> outcome_;
  bool flows_to_root_ = false;
  Program program_;
  Order order_ = Order::identity(1);
  Position position_ = 0;
  std::byte* window_ = nullptr;
  std::vector<std::byte> staging_;
  std::map<Rank, std::deque<std::vector<std::byte>>> heard_;
  std::size_t at_ = 0;
  Bytes moved_ = 0;  ///< bytes of operation `at_` in earlier notifications
};

}  // namespace tutti
