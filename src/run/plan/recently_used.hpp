/// Results by key, most recently used first, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tutti {

/// `Kept` has a member `key`, and bytes_of(kept) gives its memory. Finding one allocates nothing.
template <class Kept>
class RecentlyUsed {
 public:
  static constexpr std::size_t max_kept = 32;
  /// The latest one is kept even if it alone takes more than `max_bytes`.
  explicit RecentlyUsed(std::size_t max_bytes = std::size_t{32} << 20) : max_bytes_(max_bytes) {}

  /// What is kept for `key`, or null.
  template <class Key>
  [[nodiscard]] const Kept* find(const Key& key) {
    const auto found = std::ranges::find_if(all_, [&](const auto& one) { return one->key == key; });
    if (found == all_.end()) return nullptr;
    std::rotate(all_.begin(), found, found + 1);
    return all_.front().get();
  }
  /// Drops the least recently used ones if there are too many or they take too much memory.
  const Kept& keep(Kept kept) {
    bytes_ += bytes_of(kept);
    all_.insert(all_.begin(), std::make_unique<Kept>(std::move(kept)));
    while (all_.size() > max_kept || (all_.size() > 1 && bytes_ > max_bytes_)) {
      bytes_ -= bytes_of(*all_.back());
      all_.pop_back();
      ++dropped_;
    }
    return *all_.front();
  }
  /// Results of find() and keep() are valid until this number changes.
  [[nodiscard]] unsigned dropped() const { return dropped_; }

 private:
  unsigned dropped_ = 0;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::vector<std::unique_ptr<Kept>> all_;
};

}  // namespace tutti
