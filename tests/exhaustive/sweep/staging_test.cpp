/// What ranks stage stays within the bound that the list documents, and trees keep to it.
#include "algorithms/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "algorithms/problems.hpp"
#include "lowering/lower.hpp"
#include "shapes/knomial.hpp"
#include "sweep/sweep.hpp"

namespace tutti {
namespace {

constexpr Bytes block = 1000;

/// The bytes of scratch that the plan of a rank has.
Bytes staged(const Specification& specification, const Problems& problems, const Call& call,
             Rank rank) {
  return lower(problems.schedule(rank), problems.at(rank),
               call.sizes[static_cast<std::size_t>(rank)],
               {.swaps = specification.algorithm->commutative})
      .scratch;
}

Bytes all_of(const Call& call) {
  const bool is_vector = block_kind(call.collective) == BlockKind::parts;
  return is_vector ? call.sizes[0]
                   : std::accumulate(call.sizes.begin(), call.sizes.end(), Bytes{0});
}

/// Equal blocks; in an irregular reduce_scatter, all of whose ranks know all sizes, uneven ones
/// too.
std::vector<std::vector<Bytes>> kinds_of_sizes(Collective collective, int p) {
  const std::vector<Bytes> equal(static_cast<std::size_t>(p), block);
  if (collective != Collective::reduce_scatter) return {equal};
  std::vector<std::vector<Bytes>> all = {equal};
  for (const Bytes others : {Bytes{0}, block / 10}) {
    for (const int owner : {0, p / 2, p - 1}) {
      all.emplace_back(static_cast<std::size_t>(p), others);
      all.back()[static_cast<std::size_t>(owner)] = block;
    }
  }
  all.emplace_back();  // blocks of some neighbours
  for (int rank = 0; rank < p; ++rank) all.back().push_back(rank % 4 < 2 ? block : 0);
  return all;
}

class EveryAlgorithmStages : public testing::TestWithParam<Collective> {};

/// Compares all ranks of one call with the bound.
void expect_bounded(const Specification& specification, const Call& call) {
  const int p = call.p();
  const Bytes own = specification.algorithm->staging == Staging::subtrees ? block : 0;
  const Specification run = within(specification, p, all_of(call), call.memory);
  const Bytes largest = *std::max_element(call.sizes.begin(), call.sizes.end());
  const Bytes bound = staging_of(run, p, all_of(call), call.memory, largest) + own;
  const Problems problems(specification, call);
  for (Rank rank = 0; rank < p; ++rank) {
    EXPECT_LE(staged(run, problems, call, rank), bound)
        << name_of(call.collective) << " " << to_text(specification) << " p " << p << " rank "
        << rank << " memory " << call.memory << " sizes " << testing::PrintToString(call.sizes);
  }
}

TEST_P(EveryAlgorithmStages, NoMoreThanTheListSays) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective != GetParam()) continue;
    for (const Specification& specification : variations(algorithm)) {
      if (specification.needs_distances() || specification.needs_arrivals()) continue;
      for (const int p : {2, 3, 5, 8, 13, 24, 31, 64}) {
        for (const Bytes memory : {Bytes{0}, Bytes{3 * block}, Bytes{20 * block}}) {
          if (!is_gather_or_scatter(algorithm.collective) && memory > 0) continue;
          for (const auto& sizes : kinds_of_sizes(algorithm.collective, p)) {
            Call call;
            call.collective = algorithm.collective;
            call.root = p / 2 * (has_root(algorithm.collective) ? 1 : 0);
            call.sizes = sizes;
            call.memory = memory;
            expect_bounded(specification, call);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Staging, EveryAlgorithmStages, testing::ValuesIn([] {
                           std::vector<Collective> all;
                           for (const Collective collective : all_collectives) {
                             if (!is_one_sided(collective)) all.push_back(collective);
                           }
                           return all;
                         }()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(Staging, OfTheIssuesExampleIsBounded) {
  // 64 ranks with 256 MiB each: an inner rank held 8 GiB.
  Call call;
  call.sizes.assign(64, Bytes{256} << 20);
  call.memory = default_staging;
  for (const char* name : {"ordered_tree", "binomial", "knomial:k=4"}) {
    const Specification specification = *tutti::specification(Collective::gatherv, name);
    const Problems problems(specification, call);
    for (Rank rank = 1; rank < 64; ++rank) {
      EXPECT_LE(staged(specification, problems, call, rank), default_staging + call.sizes[0]);
    }
  }
}

TEST(Staging, OfALargeRadixIsThatOfTheMessagesThatThereAre) {
  const auto vectors = [](Collective collective, const char* text, int p) {
    return staging_of(*specification(collective, text), p, 1000, 0) / 1000;
  };
  EXPECT_EQ(vectors(Collective::alltoall, "bruck:k=8", 64), 5);   // 2 rounds, received and packed
  EXPECT_EQ(vectors(Collective::alltoall, "bruck:k=64", 64), 3);  // 1 round
  EXPECT_EQ(vectors(Collective::reduce, "knomial:k=64", 8), 8);   // 7 children
}

TEST(Staging, TakesTheAlgorithmThatStagesLeastWhereItMust) {
  const auto runs = [](Collective collective, const char* text, Bytes bytes) {
    return to_text(within(*specification(collective, text), 8, bytes, 1000));
  };
  EXPECT_EQ(runs(Collective::scatter, "relay:late=7", 800), "relay:late=7");
  EXPECT_EQ(runs(Collective::scatter, "relay:late=7", 2000), "linear:order=arrival");
  EXPECT_EQ(runs(Collective::rma_gather, "binomial", 1000), "binomial");
  EXPECT_EQ(runs(Collective::rma_gather, "binomial", 1001), "linear");
  EXPECT_EQ(runs(Collective::rma_reduce, "linear", 1000), "binomial");
}

TEST(FixedPosition, EqualsTheCentralTreeInThousandsOfCases) {
  std::mt19937_64 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 4000; ++i) {
    const int p = 1 + below(70);
    Specification specification = *tutti::specification(Collective::gatherv, "knomial");
    specification.parameters.k = 2 + below(4);
    const Bytes memory = below(3) == 0 ? 0 : 1 + below(300);
    const ProblemMaker known({.specification = specification, .p = p, .memory = memory}, {});
    const Growth& growth = known.growth();
    std::vector<Bytes> sizes;
    for (int rank = 0; rank < p; ++rank) sizes.push_back(below(4) == 0 ? 0 : below(60));
    const OrderedTree central(growth, sizes);
    const Knomial shape(p, specification.parameters.k);
    const Order order = Order::identity(p);
    std::vector<Bytes> passes(sizes.size());
    for (Position at = p - 1; at >= 0; --at) {
      std::vector<Bytes> told;
      for (const Position child : shape.children(at)) {
        told.push_back(passes[static_cast<std::size_t>(child)]);
      }
      const auto me = static_cast<std::size_t>(at);
      const TreeNeighbours place = fixed_position(growth, at, sizes[me], told);
      passes[me] = place.self.bytes;
      if (at == 0) continue;  // it gets detached subtrees beside these
      ASSERT_EQ(in_order(place, order), in_order(central.neighbours(at), order))
          << "case " << i << " position " << at;
    }
  }
}

}  // namespace
}  // namespace tutti
