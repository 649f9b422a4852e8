/// The memory of a program: derives the dependencies of operations, and reuses free memory.
#pragma once

#include <map>
#include <vector>

#include "lowering/program.hpp"

namespace tutti {

/// A byte in a stretch of memory.
struct Spot {
  int stretch = 0;
  Bytes offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

[[nodiscard]] constexpr Spot moved(Spot spot, Bytes by) { return {spot.stretch, spot.offset + by}; }

/// Tracks the uses of the caller's two buffers, and of staging memory in stretches that are
/// allocated on demand. Operations have the numbers that they have in their program.
class MemoryUse {
 public:
  static constexpr int send_buffer = 0;
  static constexpr int receive_buffer = 1;

  /// `padding` bytes follow each stretch of staging memory.
  explicit MemoryUse(Bytes padding) : padding_(padding) { stretches_.resize(2); }

  /// Allocates a stretch of staging memory of at least `bytes`, or reuses a free one. O(free
  /// stretches).
  [[nodiscard]] Spot take(Bytes bytes);
  /// Counts the bytes of values in the stretch of `spot`; a stretch with values is not reused.
  void hold(Spot spot, Bytes bytes) { at(spot).held += bytes; }
  void release(Spot spot, Bytes bytes);

  /// Operation `number` reads or writes `bytes` bytes from `spot` on. Appends to `needs` the
  /// earlier operations that it conflicts with, but for those that others of them need. No
  /// operation writes the send buffer. O(log n) for n ranges with different uses, and each of those
  /// that it touches.
  void use(int number, Spot spot, Bytes bytes, bool writes, std::vector<int>& needs);
  /// True if an operation has used these bytes.
  [[nodiscard]] bool is_used(Spot spot, Bytes bytes) const;

  /// Frees the stretches without values that only completed operations have used. `completed` is by
  /// operation.
  void recycle(const std::vector<char>& completed);

  [[nodiscard]] Area area(Spot spot) const {
    return spot.stretch == send_buffer      ? Area::send
           : spot.stretch == receive_buffer ? Area::receive
                                            : Area::staging;
  }
  /// The offset in the area.
  [[nodiscard]] Bytes offset(Spot spot) const {
    return stretches_[index(spot.stretch)].offset + spot.offset;
  }
  [[nodiscard]] Bytes scratch() const { return scratch_; }

 private:
  /// The uses of the bytes up to the next Use: the last write, and the reads since.
  struct Use {
    int writer = -1;
    std::vector<int> readers = {};
  };
  using Uses = std::map<Bytes, Use>;  ///< by first byte
  struct Stretch {
    Bytes offset = 0;  ///< in staging memory
    Bytes bytes = 0;
    Bytes held = 0;
    bool is_listed = false;  ///< in idle_
    Uses uses = {{0, {}}};
  };

  void list(int stretch);
  /// Makes a range of uses begin at `byte`, and returns it.
  static Uses::iterator split(Uses& uses, Bytes byte);
  [[nodiscard]] Stretch& at(Spot spot) { return stretches_[index(spot.stretch)]; }

  std::vector<Stretch> stretches_;
  std::vector<int> idle_;  ///< stretches that have no values, or had none when they were listed
  std::vector<int> free_;
  Bytes padding_;
  Bytes scratch_ = 0;
};

}  // namespace tutti
