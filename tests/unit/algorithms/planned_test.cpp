/// The programs that the sweep verifies are those that ranks plan by their own knowledge.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "run/plan/executor.hpp"
#include "run/plan/planner.hpp"
#include "sweep/check.hpp"
#include "sweep/sweep.hpp"
#include "unit/run/thread_transport.hpp"

namespace tutti {
namespace {

/// A call of random data, planned by all ranks.
class PlannedCall {
 public:
  PlannedCall(const Specification& specification, std::mt19937_64& random)
      : specification_(specification) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int p = 1 + below(9);
    call_.collective = specification.algorithm->collective;
    call_.root = has_root(call_.collective) ? below(p) : 0;
    call_.unit = reduces(call_.collective) ? 2 : 1;
    const bool is_barrier = block_kind(call_.collective) == BlockKind::none;
    const Bytes each = is_barrier ? 0 : below(20) * call_.unit;
    for (Rank rank = 0; rank < p; ++rank) {
      call_.sizes.push_back(is_irregular(call_.collective) ? below(20) * call_.unit : each);
      call_.arrivals.push_back(below(40));
      call_.rank_order.push_back(rank);
    }
    std::ranges::shuffle(call_.rank_order, random);
    if (!specification.turns_with_root()) {
      std::swap(call_.rank_order[0], *std::ranges::find(call_.rank_order, call_.root));
    }
    if (!specification.needs_distances()) call_.rank_order.clear();
    if (!specification.needs_arrivals() || below(4) == 0) call_.arrivals.clear();
    are_exchanged_ = specification.knowledge() != Knowledge::nothing && below(4) == 0;
    call_.half_performance_length = below(8);
    call_.memory = below(2) * below(60);
    const std::vector<int> kinds = distinct_kinds(specification, call_);
    kind_ = kinds[random() % kinds.size()];
  }

  /// Each rank plans in a thread of its own, and compares the program with the one verified.
  void plan_and_compare() const {
    const Problems problems(specification_, call_);
    const Programs verified(specification_, call_, problems, problems.schedules(), kind_);
    std::vector<Program> planned(call_.sizes.size());
    std::vector<std::thread> threads;
    ThreadNetwork network(call_.p());
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      threads.emplace_back([&, rank] {
        const auto at = static_cast<std::size_t>(rank);
        ThreadTransport transport(network, rank);
        planned[at] = plan(rank, verified.layouts[at].traits, transport);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t rank = 0; rank < planned.size(); ++rank) {
      EXPECT_EQ(to_text(planned[rank]), to_text(verified.programs[rank]));
      EXPECT_TRUE(planned[rank] == verified.programs[rank])
          << name_of(call_.collective) << " " << to_text(specification_) << " p " << call_.p()
          << " root " << call_.root << " rank " << rank << " buffers " << buffer_kind_name(kind_);
    }
  }

 private:
  /// A rank's arguments.
  [[nodiscard]] CallSizes sizes_of(Rank rank) const {
    CallSizes sizes;
    const Collective collective = call_.collective;
    const Bytes own = call_.sizes[static_cast<std::size_t>(rank)];
    if (is_gather_or_scatter(collective)) sizes.own = own;
    if (!is_irregular(collective)) {
      sizes.each = own;
    } else if (block_kind(collective) == BlockKind::pairs) {
      for (Rank other = 0; other < call_.p(); ++other) {
        sizes.sent.push_back(call_.pair(rank, other));
        sizes.received.push_back(call_.pair(other, rank));
      }
    } else if (!has_root(collective) || rank == call_.root || are_exchanged_) {
      sizes.by_rank = call_.sizes;
    }
    return sizes;
  }

  [[nodiscard]] Program plan(Rank rank, const BufferTraits& traits, Transport& transport) const {
    const CallSizes sizes = sizes_of(rank);
    CallProblem problem;
    problem.specification = &specification_;
    problem.p = call_.p();
    problem.rank = rank;
    problem.root = call_.root;
    problem.traits = traits;
    problem.sizes = &sizes;
    problem.sizes_exchanged = are_exchanged_;
    problem.unit = call_.unit;
    const bool knows_order = rank == call_.root || specification_.order_matters_everywhere();
    if (!call_.arrivals.empty() && knows_order) problem.arrivals = &call_.arrivals;
    problem.ready = ready_times(specification_, call_.arrivals, call_.rate);
    if (!call_.rank_order.empty()) problem.rank_order = &call_.rank_order;
    Executor executor;
    Planner planner({call_.memory, call_.half_performance_length}, [&](Protocol protocol) {
      return executor.run(std::move(protocol), transport);
    });
    const Plan* plan = nullptr;
    if (planner.prepare(problem, plan) != 0) return {};
    return plan->program;
  }

  Specification specification_;
  Call call_;
  bool are_exchanged_ = false;  ///< the sizes, before the call
  int kind_ = 0;
};

class EveryAlgorithmPlans : public testing::TestWithParam<Collective> {};

TEST_P(EveryAlgorithmPlans, WhatIsVerified) {
  std::mt19937_64 random(1);
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective != GetParam()) continue;
    for (const Specification& specification : variations(algorithm)) {
      for (int i = 0; i < 4; ++i) PlannedCall(specification, random).plan_and_compare();
      ASSERT_FALSE(HasFailure()) << to_text(specification);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, EveryAlgorithmPlans, testing::ValuesIn([] {
                           std::vector<Collective> all;
                           for (const Collective collective : all_collectives) {
                             if (!is_one_sided(collective)) all.push_back(collective);
                           }
                           return all;
                         }()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
