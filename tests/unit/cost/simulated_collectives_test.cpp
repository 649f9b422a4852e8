/// Worked numbers of the collectives' algorithms: rounds, and what the busiest rank sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "cost/simulate.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

struct Row {
  const char* algorithm;
  int p;
  Bytes bytes;  // of each block, or of the vector
  int rounds;
  Bytes sent;  // by the rank that sends most
  Rank root = 0;
};

void expect_rows(Collective collective, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Call call{collective, row.root,
                    std::vector<Bytes>(static_cast<std::size_t>(row.p), row.bytes), 0};
    const auto schedules = testing_support::schedules_of(row.algorithm, call);
    const std::string name =
        std::string(name_of(collective)) + " " + row.algorithm + " p " + std::to_string(row.p);
    // A message takes one unit of time, whatever it carries; a rank sends and receives at once.
    const auto timeline = simulate(schedules, {1, 0, 1, true});
    ASSERT_TRUE(timeline) << name << ": " << timeline.error();
    EXPECT_EQ(timeline->run_time(), row.rounds) << name;
    Bytes most = 0;
    for (const Schedule& schedule : schedules) {
      Bytes sent = 0;
      for (const Step& step : schedule.steps) {
        if (step.kind == StepKind::send) sent += step.bytes;
      }
      most = std::max(most, sent);
    }
    EXPECT_EQ(most, row.sent) << name;
  }
}

TEST(Numbers, OfBroadcasts) {
  expect_rows(Collective::bcast, {
                                     {"linear", 6, 8, 5, 40},
                                     {"linear_sequence", 6, 8, 5, 40},
                                     {"linear_pull:flight=1", 6, 8, 6, 40},  // the first request
                                     {"binomial", 8, 8, 3, 24},
                                     {"binomial", 6, 8, 3, 24, 4},
                                     {"knomial:k=3", 9, 8, 4, 32},
                                     {"earliest", 8, 8, 3, 24},
                                     {"chain:parts=4", 5, 8, 7, 8},  // n + p - 2
                                     {"chain:parts=1", 5, 8, 4, 8},
                                     {"circulant:parts=1", 8, 8, 3, 24},
                                     {"circulant:parts=4", 8, 8, 6, 12},   // 3 + 3 rounds of 2
                                     {"circulant:parts=8", 6, 8, 10, 10},  // 7 + 3 rounds of 1
                                     {"circulant:parts=8", 5, 8, 10, 10, 3},
                                     // 0 scatters 4 + 2 + 1 of 8 parts, and 7 around the ring
                                     {"scatter_allgather", 2, 8, 2, 8},
                                 });
}

TEST(Numbers, OfAllgathers) {
  const std::vector<Row> rows = {
      {"linear", 7, 5, 6, 30},
      {"broadcasts", 8, 5, 7, 35},
      {"ring", 7, 5, 6, 30},
      {"recursive_doubling", 8, 5, 3, 35},
      {"recursive_doubling", 6, 5, 4, 55},  // 2 + 4 groups' exchanges, and 5 back to the pair
      {"bruck", 6, 5, 3, 25},
      {"bruck:k=3", 9, 5, 4, 40},
      {"circulant", 6, 5, 3, 25},
      {"circulant", 11, 5, 4, 50},
      // Down 0 sends 4, 6 and 7 blocks, the first while the last ones come up.
      {"gather_bcast", 8, 5, 5, 85},
      {"sync_bcast:segment=1K", 4, 5, 8, 30},
  };
  expect_rows(Collective::allgather, rows);
  expect_rows(Collective::allgatherv, rows);
}

TEST(Numbers, OfAlltoalls) {
  expect_rows(Collective::alltoall, {
                                        {"linear", 7, 3, 6, 18},
                                        {"pairwise", 7, 3, 6, 18},
                                        {"bruck", 8, 3, 3, 36},      // p / 2 blocks a round
                                        {"bruck", 5, 3, 3, 15},      // 2 + 2 + 1 blocks
                                        {"bruck:k=5", 5, 3, 4, 12},  // each block straight
                                        {"bruck:k=3", 9, 3, 4, 36},
                                    });
}

TEST(Numbers, OfReduces) {
  expect_rows(Collective::reduce, {
                                      {"linear", 6, 8, 5, 8},
                                      {"binomial", 8, 8, 3, 8},
                                      {"knomial:k=3", 9, 8, 4, 8},
                                      {"knomial_ordered", 8, 8, 3, 8},
                                      {"knomial_ordered", 8, 8, 4, 8, 7},
                                      {"chain:parts=4", 5, 8, 7, 8},
                                      {"chain:parts=4", 5, 8, 9, 8, 2},  // the root: 2 * 4 parts
                                      {"circulant:parts=1", 8, 8, 3, 8},
                                      {"circulant:parts=4", 8, 8, 6, 8},   // 3 + 3 rounds of 2
                                      {"circulant:parts=8", 6, 8, 10, 8},  // 7 + 3 rounds of 1
                                      {"circulant:parts=8", 5, 8, 10, 8, 3},
                                      {"scatter_gather", 8, 8, 6, 11},  // 7, then half of all
                                      {"scatter_gather", 6, 8, 5, 10},  // 6, then half of all
                                  });
}

TEST(Numbers, OfChainsToEveryRoot) {
  for (int p = 2; p <= 9; ++p) {
    for (Rank root = 0; root < p; ++root) {
      for (const int n : {1, 2, 3, 8, 20}) {
        const int longer = std::max(root, p - 1 - root);
        const int shorter = p - 1 - longer;
        const int rounds =
            shorter == 0 ? n + longer - 1 : std::max(n + longer, 2 * n + shorter) - 1;
        const std::string text = "chain:parts=" + std::to_string(n);
        expect_rows(Collective::reduce, {{text.c_str(), p, 20, rounds, 20, root}});
      }
    }
  }
}

TEST(Numbers, OfAllreduces) {
  expect_rows(Collective::allreduce, {
                                         {"recursive_doubling", 8, 24, 3, 72},
                                         {"recursive_doubling", 6, 24, 4, 72},
                                         {"reduce_bcast", 8, 24, 6, 72},
                                         {"ring", 4, 24, 6, 36},              // 2 * 3 / 4 * 24
                                         {"halving_doubling", 8, 24, 6, 42},  // 2 * 7 / 8 * 24
                                         {"halving_doubling", 6, 24, 6, 60},  // 36, and 24 back
                                         {"circulant", 6, 24, 6, 40},         // 2 * 5 / 6 * 24
                                     });
}

TEST(Numbers, OfReduceScatters) {
  const std::vector<Row> rows = {
      {"linear", 6, 5, 5, 25},
      {"pairwise", 7, 5, 6, 30},
      {"ring", 5, 5, 4, 20},
      {"recursive_halving", 8, 5, 3, 35},
      {"recursive_halving", 6, 5, 4, 30},  // the pair's second rank sends all
      {"circulant", 6, 5, 3, 25},
      {"circulant", 11, 5, 4, 50},
  };
  expect_rows(Collective::reduce_scatter, rows);
  expect_rows(Collective::reduce_scatter_block, rows);
}

TEST(Numbers, OfBarriers) {
  expect_rows(Collective::barrier, {
                                       {"linear", 5, 0, 8, 0},
                                       {"knomial", 8, 0, 6, 0},
                                       {"dissemination", 6, 0, 3, 0},
                                       {"dissemination:k=3", 9, 0, 4, 0},
                                   });
}

// Programs are compared, not pinned.
TEST(Exchange, BruckWithAsManyDigitsAsRanksIsLinear) {
  const Call call{Collective::alltoall, 0, std::vector<Bytes>(6, 4), 0};
  const auto sent = [](const std::vector<Schedule>& schedules) {
    std::vector<std::pair<Rank, BlockRange>> all;
    for (const Schedule& schedule : schedules) {
      for (const Step& step : schedule.steps) {
        if (step.kind == StepKind::send) all.emplace_back(step.peer, step.blocks.range);
      }
    }
    return all;
  };
  EXPECT_EQ(sent(testing_support::schedules_of("bruck:k=6", call)),
            sent(testing_support::schedules_of("linear", call)));
}

TEST(Exchange, TheCirculantReduceIsTheBroadcastBackwards) {
  using Message = std::tuple<StepKind, Rank, BlockRange>;
  const auto messages = [](Collective collective, int p, StepKind send, StepKind recv) {
    const Call call{collective, p / 2, std::vector<Bytes>(static_cast<std::size_t>(p), 7), 0};
    std::vector<std::vector<Message>> all;
    for (const Schedule& schedule : testing_support::schedules_of("circulant:parts=7", call)) {
      all.emplace_back();
      for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send && step.kind != StepKind::recv) continue;
        all.back().emplace_back(step.kind == StepKind::send ? send : recv, step.peer,
                                step.blocks.range);
      }
    }
    return all;
  };
  for (int p = 1; p <= 33; ++p) {
    auto backwards = messages(Collective::bcast, p, StepKind::recv, StepKind::send);
    for (auto& of_rank : backwards) std::ranges::reverse(of_rank);
    EXPECT_EQ(messages(Collective::reduce, p, StepKind::send, StepKind::recv), backwards) << p;
  }
}

TEST(Exchange, BruckAndCirculantAreOneForPowersOfTwo) {
  for (const int p : {2, 4, 16}) {
    const Call call{Collective::allgather, 0, std::vector<Bytes>(static_cast<std::size_t>(p), 4),
                    0};
    EXPECT_EQ(testing_support::schedules_of("bruck", call),
              testing_support::schedules_of("circulant", call));
  }
}

}  // namespace
}  // namespace tutti
