/// The control message of one-sided operations, and the record of those that have arrived.
#pragma once

#include <cstdint>
#include <set>
#include <type_traits>

#include "algorithms/algorithms.hpp"

namespace tutti {

/// A specification of a one-sided collective as numbers, for ranks of the same build.
struct RmaAlgorithm {
  Bytes carry = 0;
  std::int32_t number = 0;  ///< in the list
  std::int32_t order = 0;
  std::int32_t k = 0;
  std::int32_t parts = 0;
  std::int32_t nodes = 0;
  std::int32_t protocol = 0;
  friend bool operator==(const RmaAlgorithm&, const RmaAlgorithm&) = default;
};
[[nodiscard]] RmaAlgorithm to_numbers(const Specification& specification);
[[nodiscard]] Specification specification_from(const RmaAlgorithm& numbers);

/// One notification of an operation, with all that its receiver needs to take part. Ranks send it
/// as it is in memory, because all run the same build.
struct RmaControlMessage {
  Rank root = 0;
  int window = 0;                 ///< its number, the same on all ranks
  std::int64_t operation = 0;     ///< number among all of the root, from 0 on
  std::int64_t number = 0;        ///< number among the root's on this window, from 1 on
  std::int64_t displacement = 0;  ///< in the units of each rank
  Bytes bytes = 0;                ///< of the vector, or of one rank's block
  RmaAlgorithm algorithm;
  std::int64_t combination = 0;  ///< reductions: operation and type
  std::int32_t listed = 0;       ///< number of ranks of the order that follow: none or all
  std::int32_t waited = 0;       ///< to the root: microseconds since this rank's poll before
  friend bool operator==(const RmaControlMessage&, const RmaControlMessage&) = default;
};
static_assert(std::has_unique_object_representations_v<RmaControlMessage>, "no gaps travel");

/// Records which operations of a root have arrived; they may overtake one another. They have
/// numbers from 1 on.
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
