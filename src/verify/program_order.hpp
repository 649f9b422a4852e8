/// The order that a program imposes on its operations, whatever the timing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/buffer_assignment.hpp"
#include "verify/byte_content.hpp"

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

/// Decides which operations are complete before others start: those that an operation needs, and
/// all that a wait before it names, directly or through others. This order does not depend on
/// timing, so it covers all interleavings. Reuses its memory between programs.
class ProgramOrder {
 public:
  /// Finds two operations in conflict. Sorts `accesses`. O(n log n + conflicting pairs), and
  /// O(n^2) if bytes are used again after a write, for n operations.
  [[nodiscard]] std::optional<AccessConflict> conflict(const BufferAssignment& program,
                                                       std::vector<ByteAccess>& accesses);
  /// By operation: true if it starts only after the rank has arrived, because its runner or an
  /// operation that must complete before it is the caller's.
  [[nodiscard]] const std::vector<char>& after_arrival(const BufferAssignment& program);

 private:
  void find_order(const BufferAssignment& program);
  [[nodiscard]] bool is_before(int first, int second) const {
    const auto bit = static_cast<std::size_t>(first);
    return ((before_[static_cast<std::size_t>(second) * words_ + bit / 64] >> (bit % 64)) & 1U) !=
           0;
  }

  std::size_t words_ = 0;
  std::vector<std::uint64_t> before_;  ///< by operation: the bit set of those before it
  std::vector<std::uint64_t> gate_;    ///< those before every operation from here on
  std::vector<char> after_arrival_;
};

}  // namespace tutti
