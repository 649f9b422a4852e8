/// Plans are lowered schedules, which a rank keeps for calls that are alike. The planner makes them
/// from a call's sizes: it acquires knowledge, builds the schedule and lowers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/problem_maker.hpp"
#include "core/order.hpp"
#include "lowering/program.hpp"
#include "protocols/tree_construction.hpp"
#include "run/plan/recently_used.hpp"

namespace tutti {

/// What the plans of a communicator depend on beside its calls. Equal on all ranks.
struct PlanSettings {
  Bytes staging = 0;                  ///< bytes that a rank may stage in a call; 0: no bound
  Bytes half_performance_length = 0;  ///< for trees built from sizes
  double rate = 1;                    ///< bytes per second, for trees built from arrivals
};

/// What distinguishes the plans of a communicator beside specification, sizes and arrivals.
struct CallTraits {
  Rank root = 0;
  Bytes unit = 1;  ///< reductions: bytes of an element, which is never split
  BufferTraits traits;
  int rank_order_class = -1;  ///< of block sizes, for orders by distance (RankOrders); -1: none
  friend bool operator==(const CallTraits&, const CallTraits&) = default;
};

/// One rank's view of one call.
struct CallProblem : CallTraits {
  const Specification* specification = nullptr;
  int p = 1;
  Rank rank = 0;
  /// The ranking of the expected arrivals, by rank; null: unknown, and an order by arrival is the
  /// rotated one. Equal on all ranks whose schedule depends on the order.
  const std::vector<double>* arrivals = nullptr;
  ReadyTimes ready = nullptr;  ///< the same for trees by arrivals (see ready_times)
  /// The rank at each position of an order by distance; null: the rotated one. Equal on all ranks.
  /// It must live as long as the plans.
  const std::vector<Rank>* rank_order = nullptr;

  /// Packed bytes. Of all ranks' blocks in a gatherv or scatterv at all ranks, if exchanged before.
  const CallSizes* sizes = nullptr;
  bool sizes_exchanged = false;

  [[nodiscard]] Collective collective() const { return specification->algorithm->collective; }
  [[nodiscard]] bool at_root() const { return rank == root; }
};

/// The inputs that a plan depends on.
struct PlanKey : CallTraits {
  Specification specification;
  CallSizes sizes;
  /// gatherv, scatterv: the rank's knowledge of its subtrees or neighbours, as numbers.
  std::vector<std::int64_t> known;
  /// If known: each rank's position in the sequence of arrivals, or its ready time.
  std::vector<double> arrival_times;
  /// Sets all members; `known` is empty.
  void describe(const CallProblem& problem);
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

struct Plan {
  PlanKey key;
  Order order = Order::identity(1);
  Program program;
  /// What runs instead of the key's specification, which would stage too much.
  std::optional<Specification> instead;
};

/// Approximate memory in bytes. O(operations).
[[nodiscard]] std::size_t bytes_of(const Program& program);
[[nodiscard]] std::size_t bytes_of(const Plan& plan);

/// The plans of one communicator.
using PlanCache = RecentlyUsed<Plan>;

/// Runs one rank's side of a protocol. Returns 0 or an error code of the transport.
using RunProtocol = std::function<int(Protocol)>;

/// Prepares and keeps the plans of one communicator.
class Planner {
 public:
  /// Only gathers and scatters of varying sizes need `run`.
  explicit Planner(PlanSettings settings = {}, RunProtocol run = {})
      : settings_(settings), run_(std::move(run)) {}

  /// Sets `plan` to this rank's plan, after the exchange that its knowledge needs. The plan lasts
  /// until the generation changes. Returns 0, an error code of the transport or `count_mismatch`.
  int prepare(const CallProblem& problem, const Plan*& plan);
  /// Sets `sizes` to the bytes of all ranks' blocks. Collective. Returns an error code of the
  /// transport.
  int learn_sizes(const CallProblem& problem, std::vector<Bytes>& sizes) const;

  [[nodiscard]] const PlanSettings& settings() const { return settings_; }

  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

  /// The root's sizes differ from those that the ranks sent, or this rank's from the root's.
  static constexpr int count_mismatch = -1;

 private:
  int acquire(const CallProblem& problem);
  int learn_subtrees(const CallProblem& problem);
  int construct_tree(const CallProblem& problem);
  const ProblemMaker& maker(const CallProblem& problem);
  [[nodiscard]] Plan build(const CallProblem& problem);

  struct KeptMaker {
    PlanKey key;  ///< as it was when the maker was needed
    ProblemMaker maker;
  };

  PlanSettings settings_;
  RunProtocol run_;
  PlanCache cache_;
  PlanKey key_;      ///< of the current call; its memory is kept
  Learned learned_;  ///< in the current call
  std::optional<KeptMaker> maker_;
};

}  // namespace tutti
