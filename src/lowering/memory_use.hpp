/// The use of memory by operations: derives their dependencies and reuses free memory.
#pragma once

#include <vector>

#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// A byte in a stretch of memory.
struct Spot {
  int stretch = 0;
  Bytes offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

/// Tracks the caller's two buffers, and staging memory in stretches that are allocated on demand.
/// Operations have the numbers that they have in their assignment.
class MemoryUse {
 public:
  static constexpr int send_buffer = 0;
  static constexpr int receive_buffer = 1;

  /// `padding` bytes follow each stretch of staging memory.
  explicit MemoryUse(Bytes padding) : padding_(padding) { stretches_.resize(2); }

  /// Allocates a stretch of staging memory of at least `bytes`, or reuses a free one.
  [[nodiscard]] Spot take(Bytes bytes);
  /// Counts the values in the stretch of `spot`; a stretch with values is not reused.
  void hold(Spot spot) { ++at(spot).held; }
  void release(Spot spot) { --at(spot).held; }

  /// Operation `number` reads or writes `bytes` bytes from `spot` on. Appends to `needs` the
  /// earlier operations that it conflicts with. No operation writes the send buffer.
  void use(int number, Spot spot, Bytes bytes, bool writes, std::vector<int>& needs);
  /// True if an operation has used these bytes.
  [[nodiscard]] bool is_used(Spot spot, Bytes bytes) const;

  /// Frees the stretches without values that only completed operations have used. `completed` is by
  /// operation.
  void recycle(const std::vector<char>& completed);

  [[nodiscard]] BufferRef buffer_ref_of(Spot spot, Bytes bytes) const;
  [[nodiscard]] Bytes scratch() const { return scratch_; }

 private:
  struct Use {
    int operation;
    Bytes begin, end;
    bool writes;
  };
  struct Stretch {
    Bytes offset = 0;  ///< in staging memory
    Bytes bytes = 0;
    int held = 0;
    bool is_free = false;
    std::vector<Use> uses = {};
  };

  [[nodiscard]] Stretch& at(Spot spot) {
    return stretches_[static_cast<std::size_t>(spot.stretch)];
  }
  [[nodiscard]] const Stretch& at(Spot spot) const {
    return stretches_[static_cast<std::size_t>(spot.stretch)];
  }

  std::vector<Stretch> stretches_;
  Bytes padding_;
  Bytes scratch_ = 0;
};

}  // namespace tutti
