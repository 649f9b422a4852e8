/// Plans: what one rank has prepared for a call, and the cache that keeps them.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/problems.hpp"
#include "core/order.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// One rank's view of one call, as far as it is alike for all collectives.
struct CallProblem {
  const Specification* specification = nullptr;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  BufferTraits traits;
  Bytes half_performance_length = 0;
  /// When the ranks are expected; null: not known, and an order by arrival is the rotated one.
  /// Equal on all ranks whose schedule depends on the order.
  const std::vector<double>* arrivals = nullptr;
  ReadyTimes ready = nullptr;  ///< the same for trees grown by arrivals (see ready_times)
  /// The rank at each position of an order by distance; null: the rotated one. Equal on all ranks,
  /// and there as long as the plans.
  const std::vector<Rank>* rank_order = nullptr;

  /// The argument of the algorithm, but for its order, sizes and tree.
  [[nodiscard]] Problem outline() const;
  /// Is the order one by arrival of which nothing is known?
  [[nodiscard]] bool lacks_arrivals() const;
};

/// What a plan depends on. `known` is the rank's knowledge of sizes as numbers.
struct PlanKey {
  const Algorithm* algorithm = nullptr;
  OrderName order = OrderName::rotated;
  Runner runner = Runner::caller;
  Parameters parameters;
  Rank root = 0;
  Bytes own = 0;
  BufferTraits traits;
  std::vector<std::int64_t> known;
  /// Of the ranks in the sequence of their arrivals, or when they are ready, where it is known.
  std::vector<double> places;
  /// The order by distance, which stays where it is as long as the communicator; null: none known.
  const std::vector<Rank>* rank_order = nullptr;
  /// Takes over what all collectives' problems have in common; sizes are the caller's.
  void describe(const CallProblem& problem);
  [[nodiscard]] bool is_of(const Specification& specification) const {
    return algorithm == specification.algorithm && order == specification.order &&
           runner == specification.runner && parameters == specification.parameters;
  }
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct Plan {
  PlanKey key;
  Order order = Order::identity(1);
  BufferAssignment assignment;
};

/// What a plan takes of memory, about. O(operations).
[[nodiscard]] std::size_t bytes_of(const Plan& plan);

/// The plans of one communicator, most recently used first. Finding one allocates nothing.
class PlanCache {
 public:
  static constexpr std::size_t max_plans = 32;
  /// The latest plan is kept even if it alone takes more than `max_bytes`.
  explicit PlanCache(std::size_t max_bytes = std::size_t{32} << 20) : max_bytes_(max_bytes) {}

  /// The plan for `key`, or null.
  [[nodiscard]] const Plan* find(const PlanKey& key);
  /// Keeps `plan`, dropping those unused for longest if there are too many or they take too much.
  const Plan& keep(Plan plan);
  /// Plans that were found before this changes are still there.
  [[nodiscard]] unsigned dropped() const { return dropped_; }

 private:
  unsigned dropped_ = 0;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::vector<std::unique_ptr<Plan>> plans_;
};

}  // namespace tutti
