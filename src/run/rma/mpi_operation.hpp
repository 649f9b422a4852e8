/// One rank's view of a one-sided operation: its progress, and the memory of its blocks.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

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

/// One operation at one rank. The root's blocks are in the program's buffer. Elsewhere the own
/// block is in the window, and blocks that only pass through are in memory of the operation.
class RmaOperation {
 public:
  /// `order` is empty if it follows from the specification.
  RmaOperation(const RmaControlMessage& control, std::vector<Rank> order, std::byte* users,
               std::shared_ptr<RmaOutcome> outcome)
      : control_(control), listed_(std::move(order)), users_(users), outcome_(std::move(outcome)) {}

  /// Builds the schedule, and copies this rank's contribution. `own` is the region's address in its
  /// window.
  void begin(const Nodes& nodes, Rank rank, std::byte* own);
  /// The next step; null at the end.
  [[nodiscard]] const Step* next() const;
  void done() { ++at_; }

  [[nodiscard]] const RmaControlMessage& control() const { return control_; }
  [[nodiscard]] RmaRegion region() const { return {control_.displacement, control_.bytes}; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] bool flows_to_root() const { return tutti::flows_to_root(schedule_.collective); }
  /// The order to send along to `peer`, if that has not received the operation yet; else an empty
  /// one.
  [[nodiscard]] const std::vector<Rank>& order_for(Rank peer);
  [[nodiscard]] bool at_root() const { return outcome_ != nullptr; }
  /// At the root: sets the outcome for the program.
  void finish(int error) {
    outcome_->error = error;
    outcome_->is_over = true;
  }

  /// Stores the bytes of a notification that has come.
  void hear(Rank from, std::span<const std::byte> carried);
  /// Takes stored bytes for an await step. True if it has all of them.
  [[nodiscard]] bool take_heard(const Step& await);
  /// Bytes of a notification that have not been sent yet.
  [[nodiscard]] Bytes left_of(const Step& notify) const { return notify.bytes - moved_; }
  /// Copies the next of them into a message.
  void take_next(const Step& notify, std::span<std::byte> bytes);
  /// True if all bytes of the notification have been sent; then the next one begins.
  [[nodiscard]] bool has_notified_all(const Step& notify);
  /// Combines the staged bytes into the vector. Returns an MPI error code.
  int combine(const Step& reduce);

  /// The address of a block, and its offset in the vector if blocks are parts of one.
  [[nodiscard]] std::byte* memory_of(BlockIndex block);
  [[nodiscard]] Bytes offset_of(BlockIndex block) const;

 private:
  [[nodiscard]] bool has_parts() const {
    return block_kind(schedule_.collective) == BlockKind::parts;
  }
  [[nodiscard]] Bytes size_of(BlockIndex block) const;
  void make_room();
  void take_own();
  /// Calls visit(memory, bytes) for the bytes [moved_, moved_ + bytes) of a step's blocks.
  template <class Visit>
  void for_each_piece(const Step& step, Bytes bytes, Visit visit);

  RmaControlMessage control_;
  std::vector<Rank> listed_;
  std::set<Rank> introduced_;  ///< ranks that have been sent the order
  std::byte* users_;
  std::shared_ptr<RmaOutcome> outcome_;
  Schedule schedule_;
  Order order_ = Order::identity(1);
  Position position_ = 0;
  std::byte* own_ = nullptr;
  std::vector<std::byte> passing_;  ///< other ranks' blocks, or the vector that is combined
  BlockIndex first_passing_ = 0;
  std::vector<std::byte> staged_;
  std::map<Rank, std::deque<std::vector<std::byte>>> heard_;
  StepId at_ = 0;
  Bytes moved_ = 0;  ///< bytes of step `at_` in earlier notifications
};

}  // namespace tutti
