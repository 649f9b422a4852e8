/// The order that a program imposes on its operations, whatever the timing.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "verify/rank_memory.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// Two uses of the same bytes, at least one a write, of which neither operation must complete
/// before the other one starts.
struct AccessConflict {
  ByteAccess first, second;  ///< in the sequence of operations
};

/// The first two accesses in conflict that `is_ordered(first, second)` does not order. Sorts
/// `accesses`. O(n log n + conflicting pairs).
template <class IsOrdered>
[[nodiscard]] std::optional<AccessConflict> find_conflict(std::vector<ByteAccess>& accesses,
                                                          IsOrdered is_ordered) {
  const auto key = [](const ByteAccess& access) {
    return std::tuple(access.area, access.bytes.begin, access.operation);
  };
  std::ranges::sort(accesses, {}, key);
  const auto count = accesses.size();
  std::vector<std::size_t> next_write(count + 1, count);  // at or after each access
  for (std::size_t i = count; i-- > 0;) next_write[i] = accesses[i].writes ? i : next_write[i + 1];
  for (std::size_t i = 0; i < count; ++i) {
    const ByteAccess& one = accesses[i];
    const auto after = [&](std::size_t at) { return one.writes ? at + 1 : next_write[at + 1]; };
    for (std::size_t at = after(i); at < count; at = after(at)) {
      const ByteAccess& other = accesses[at];
      if (other.area != one.area || other.bytes.begin >= one.bytes.end) break;
      const bool in_sequence = one.operation <= other.operation;
      const ByteAccess& first = in_sequence ? one : other;
      const ByteAccess& second = in_sequence ? other : one;
      if (first.operation == second.operation || !is_ordered(first.operation, second.operation)) {
        return AccessConflict{first, second};
      }
    }
  }
  return std::nullopt;
}

/// Decides which operations are complete before others start: those that an operation needs, and
/// all that a wait before it names, directly or through others. This order does not depend on
/// timing, so it covers all interleavings. Reuses its memory between programs.
class ProgramOrder {
 public:
  /// The program must outlive its use. The first question takes O(n^2) bits for n operations.
  void start(const Program& program) {
    program_ = &program;
    is_known_ = false;
  }
  [[nodiscard]] bool is_before(int first, int second) {
    if (!is_known_) find();
    return before_.contains(second, first);
  }
  /// True if the operation starts only after the rank has arrived, because its runner or an
  /// operation that must complete before it is the caller's.
  [[nodiscard]] bool is_after_arrival(int operation) { return is_before(arrival(), operation); }

 private:
  /// Closes the order of operations transitively.
  void find() {
    is_known_ = true;
    const std::vector<Operation>& operations = program_->operations;
    const auto count = static_cast<int>(operations.size());
    const RankSets::Set gate = count;
    before_.start(count + 1, count + 1);
    for (int i = 0; i < count; ++i) {
      const Operation& operation = operations[index(i)];
      const bool waits = operation.kind == OperationKind::wait;
      const auto add = [&](int other) {
        before_.insert_all(i, other);
        before_.insert(i, other);
      };
      before_.insert_all(i, gate);
      for (int need = operation.first_need; need < operation.last_need; ++need) {
        add(program_->needs[index(need)]);
      }
      for (int other = operation.first; waits && other < operation.last; ++other) add(other);
      if (waits) before_.insert_all(gate, i);
      if (!waits && operation.runner == Runner::caller) before_.insert(i, arrival());
    }
  }

  [[nodiscard]] int arrival() const { return static_cast<int>(program_->operations.size()); }

  const Program* program_ = nullptr;
  bool is_known_ = false;
  RankSets before_;  ///< by operation: those before it; last: those before all from here on
};

}  // namespace tutti
