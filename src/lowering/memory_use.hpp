/// MemoryUse of memory and the operations that touch them: what needs what, and what may be used
/// again.
#pragma once

#include <vector>

#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// A byte of one of the stretches.
struct Spot {
  int stretch = 0;
  Bytes offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

/// The caller's two buffers, and scratch in stretches that are taken as they are needed. Operations
/// are numbered as they are added to a assignment.
class MemoryUse {
 public:
  static constexpr int send_buffer = 0;
  static constexpr int receive_buffer = 1;

  /// `padding` bytes stay free after each stretch of scratch.
  explicit MemoryUse(Bytes padding) : padding_(padding) { stretches_.resize(2); }

  /// A stretch of scratch of at least `bytes` that no operation uses and no value is in.
  [[nodiscard]] Spot take(Bytes bytes);
  /// A value is in the stretch of `spot`, or is no longer. Counts, which matters in scratch.
  void hold(Spot spot) { ++at(spot).held; }
  void release(Spot spot) { --at(spot).held; }

  /// Operation `number` reads or writes the bytes from `spot` on. Appends to `needs` the earlier
  /// operations that it must come after. Nobody writes the send buffer.
  void use(int number, Spot spot, Bytes bytes, bool writes, std::vector<int>& needs);
  /// Has any operation touched these bytes?
  [[nodiscard]] bool is_used(Spot spot, Bytes bytes) const;

  /// MemoryUse that hold nothing and that only completed operations have touched may be taken
  /// again from now on. `completed` is by operation.
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
    Bytes offset = 0;  ///< in scratch
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
