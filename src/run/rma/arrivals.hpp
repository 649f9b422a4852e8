/// Which operations of a root have arrived, where they may overtake one another.
#pragma once

#include <cstdint>
#include <set>

namespace tutti {

/// Operations are numbered from 1 on.
class RmaArrivals {
 public:
  void add(std::int64_t number) {
    early_.insert(number);
    while (!early_.empty() && *early_.begin() == all_up_to_ + 1) {
      early_.erase(early_.begin());
      ++all_up_to_;
    }
  }
  /// All operations up to this one have arrived.
  [[nodiscard]] std::int64_t all_up_to() const { return all_up_to_; }

 private:
  std::int64_t all_up_to_ = 0;
  std::set<std::int64_t> early_;
};

}  // namespace tutti
