/// The control message of one-sided operations, and the record of those that have arrived.
#pragma once

#include <cstdint>
#include <set>
#include <type_traits>

#include "algorithms/algorithms.hpp"

namespace tutti {

/// An operation's byte range in the window of each rank.
struct RmaRegion {
  std::int64_t displacement = 0;  ///< in the units of each rank
  Bytes bytes = 0;
};

/// One notification of an operation, with all that its receiver needs to take part. Ranks send it
/// as it is in memory, because all run the same build.
struct RmaControlMessage {
  Rank root = 0;
  int window = 0;              ///< its number, the same on all ranks
  std::int64_t operation = 0;  ///< number among all of the root, from 0 on
  std::int64_t number = 0;     ///< number among the root's on this window, from 1 on
  RmaRegion region;            ///< the vector, or one rank's block
  std::int32_t algorithm = 0;  ///< its number in the list
  OrderName order = OrderName::rotated;
  Parameters parameters;
  std::int64_t combination = 0;  ///< reductions: see combination_of()
  std::int32_t listed = 0;       ///< number of ranks of the order that follow: none or all
  std::int32_t waited = 0;       ///< to the root: microseconds since this rank's poll before

  void set(const Specification& specification) {
    algorithm = static_cast<std::int32_t>(specification.algorithm - all_algorithms().data());
    order = specification.order;
    parameters = specification.parameters;
  }
  [[nodiscard]] Specification specification() const {
    return {&all_algorithms()[index(algorithm)], order, parameters};
  }
};
/// It travels as bytes; nothing reads the gaps between its members.
static_assert(std::is_trivially_copyable_v<RmaControlMessage>);

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
