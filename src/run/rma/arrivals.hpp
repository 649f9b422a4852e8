/// Records which operations of a root have arrived; they may overtake one another.
#pragma once

#include <cstdint>
#include <set>

namespace tutti {

/// Operations have numbers from 1 on.
class RmaArrivals {
 public:
  void add(std::int64_t number) {
    ahead_.insert(number);
    while (!ahead_.empty() && *ahead_.begin() == all_up_to_ + 1) {
      ahead_.erase(ahead_.begin());
      ++all_up_to_;
    }
  }
  /// All operations up to this number have arrived.
  [[nodiscard]] std::int64_t all_up_to() const { return all_up_to_; }

 private:
  std::int64_t all_up_to_ = 0;
  std::set<std::int64_t> ahead_;
};

}  // namespace tutti
