/// One one-sided operation as one rank sees it: how far it has come, and where its blocks lie.
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

/// What a root must know of an operation that it has begun.
struct RmaOutcome {
  std::atomic<bool> is_over = false;
  int error = MPI_SUCCESS;  ///< set before is_over
};

/// One of MPI's own operations that commute, with one of its own types, in one word for all ranks;
/// 0 if it is none of them.
[[nodiscard]] std::int64_t combination_of(MPI_Op op, MPI_Datatype type);

/// What a root asks for.
struct RmaCall {
  Specification specification;
  RmaRegion region;            ///< in each window: the vector, or a rank's block
  std::byte* users = nullptr;  ///< a vector, or p blocks in the sequence of ranks; packed
  std::int64_t combination = 0;
  std::vector<Rank> order = {};  ///< empty: as the specification says, without knowledge
};

/// Blocks lie in the program's buffer at the root; elsewhere a rank's own is in its window, and
/// those that only pass through are in memory of the operation.
class RmaOperation {
 public:
  /// The order is empty where it follows from the specification.
  RmaOperation(const RmaControlMessage& control, std::vector<Rank> order, std::byte* users,
               std::shared_ptr<RmaOutcome> outcome)
      : control_(control), listed_(std::move(order)), users_(users), outcome_(std::move(outcome)) {}

  /// Builds the schedule, and takes what this rank brings. `own` is the place in its window.
  void begin(const Nodes& nodes, Rank rank, std::byte* own);
  /// The step that is next; null at the end.
  [[nodiscard]] const Step* next() const;
  void done() { ++at_; }

  [[nodiscard]] const RmaControlMessage& control() const { return control_; }
  [[nodiscard]] RmaRegion region() const { return {control_.displacement, control_.bytes}; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] bool flows_to_root() const { return tutti::flows_to_root(schedule_.collective); }
  /// The order to send along to a rank that has not heard of the operation; else an empty one.
  [[nodiscard]] const std::vector<Rank>& order_for(Rank peer);
  [[nodiscard]] bool at_root() const { return outcome_ != nullptr; }
  /// At the root: lets the program know how it has ended.
  void finish(int error) {
    outcome_->error = error;
    outcome_->is_over = true;
  }

  /// A notification has come, with these bytes.
  void hear(Rank from, std::span<const std::byte> carried);
  /// Takes what has been heard for an await. True if that is all of it.
  [[nodiscard]] bool take_heard(const Step& await);
  /// How many bytes of a notification that carries them have not been taken yet.
  [[nodiscard]] Bytes left_of(const Step& notify) const { return notify.bytes - moved_; }
  /// Copies the next of them.
  void take_next(const Step& notify, std::span<std::byte> bytes);
  /// All bytes of the notification have been taken; then the next one begins.
  [[nodiscard]] bool has_notified_all(const Step& notify);
  /// Combines what has been received aside into the vector. Returns an MPI error code.
  int combine(const Step& reduce);

  /// Where a block begins, and after how many bytes of the vector where that is what blocks are
  /// parts of.
  [[nodiscard]] std::byte* memory_of(int block);
  [[nodiscard]] Bytes offset_of(int block) const;

 private:
  [[nodiscard]] bool has_parts() const {
    return block_kind(schedule_.collective) == BlockKind::parts;
  }
  [[nodiscard]] Bytes size_of(int block) const;
  void make_room();
  void take_own();
  /// Calls visit(memory, bytes) for the bytes [moved_, moved_ + bytes) of a step's blocks.
  template <class Visit>
  void for_each_piece(const Step& step, Bytes bytes, Visit visit);

  RmaControlMessage control_;
  std::vector<Rank> listed_;
  std::set<Rank> introduced_;  ///< have been sent the order
  std::byte* users_;
  std::shared_ptr<RmaOutcome> outcome_;
  Schedule schedule_;
  Order order_ = Order::identity(1);
  Position position_ = 0;
  std::byte* own_ = nullptr;
  std::vector<std::byte> passing_;  ///< blocks of others, or the vector that is being combined
  int first_passing_ = 0;
  std::vector<std::byte> staged_;
  std::map<Rank, std::deque<std::vector<std::byte>>> heard_;
  StepId at_ = 0;
  Bytes moved_ = 0;  ///< bytes of the step at `at_`, in earlier notifications
};

}  // namespace tutti
