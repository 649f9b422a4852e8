/// The order that a program imposes on its operations, whatever the timing.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "lowering/program.hpp"
#include "verify/byte_content.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// A use of bytes by an operation.
struct ByteAccess {
  int operation = 0;
  Area area = Area::staging;
  bool writes = false;
  ByteRange bytes;
};

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
  for (auto one = accesses.begin(); one != accesses.end(); ++one) {
    for (auto other = one + 1;
         other != accesses.end() && other->area == one->area && other->bytes.begin < one->bytes.end;
         ++other) {
      if (!one->writes && !other->writes) continue;
      const bool in_sequence = one->operation <= other->operation;
      const ByteAccess& first = in_sequence ? *one : *other;
      const ByteAccess& second = in_sequence ? *other : *one;
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
  /// Finds two operations in conflict. Sorts `accesses`. O(n log n + conflicting pairs), and
  /// O(n^2) bits if bytes are used again after a write, for n operations.
  [[nodiscard]] std::optional<AccessConflict> conflict(const Program& program,
                                                       std::vector<ByteAccess>& accesses);
  /// By operation: true if it starts only after the rank has arrived, because its runner or an
  /// operation that must complete before it is the caller's.
  [[nodiscard]] const std::vector<char>& after_arrival(const Program& program);

 private:
  void find_order(const Program& program);

  RankSets before_;  ///< by operation: those before it; last: those before all from here on
  std::vector<char> after_arrival_;
};

}  // namespace tutti
