/// One-sided broadcasts: the paper's worked numbers, and flags that overtake data.
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "algorithms/problems.hpp"
#include "cost/simulate.hpp"
#include "schedule/builder.hpp"
#include "select/selection.hpp"
#include "shapes/knomial.hpp"
#include "sweep/check.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;

// Paznikov 2024, section 2. With q = max(o, g), a stage is a put of m bytes, a put of the
// description and a notification, then the wire and the polling thread; the last rank's completion
// count crosses the wire at the end. Valid only if notifications cannot overtake data. p must be a
// power of two. Seconds. O(1).

/// The time until all three messages of a request have arrived.
double request(Bytes bytes, const Machine& machine, PriceModel model) {
  const double body = model == PriceModel::loggp
                          ? machine.per_byte * static_cast<double>(std::max<Bytes>(bytes - 1, 0))
                          : 0;
  return machine.overhead + body + 2 * std::max(machine.overhead, machine.gap);
}

double wire(const Machine& machine) { return machine.latency - 2 * machine.overhead; }

double stages(int p) { return std::bit_width(static_cast<unsigned>(p - 1)); }

/// (o + (m - 1) G + 2 q + L + o_r) log2 P + o + L, the children with the largest subtrees first and
/// flushed together.
double rma_binomial_seconds(int p, Bytes bytes, const Machine& machine, PriceModel model) {
  const double stage = request(bytes, machine, model) + wire(machine) + machine.polling;
  return stage * stages(p) + machine.overhead + wire(machine);
}

/// The same with the smallest subtrees first, each flushed before the next. Of the k (k + 1) / 2
/// stages in sequence, k = log2 P, all but the last of each rank include the return path of a
/// flush.
double rma_ascending_seconds(int p, Bytes bytes, const Machine& machine, PriceModel model) {
  const double served = request(bytes, machine, model) + 2 * wire(machine);
  return rma_binomial_seconds(p, bytes, machine, model) + served * stages(p) * (stages(p) - 1) / 2;
}

// The example of algorithms.md: L = 5, o = 2, g = 4, o_r = 3, G = 0.01.
constexpr Machine example = {9, 0.01, 2, 4, 3};

Call call_of(int p, Bytes bytes, Rank root = 0) {
  return {Collective::rma_bcast, root, std::vector<Bytes>(static_cast<std::size_t>(p), bytes), 0};
}

enum class Children { ascending_each_flushed, descending_flushed_at_the_end };

/// Paznikov's PutRequest as it is written: data, description, flag, and only then the flush.
std::vector<Schedule> as_in_the_paper(int p, Bytes bytes, Children children) {
  std::vector<Schedule> all;
  for (Rank rank = 0; rank < p; ++rank) {
    Problem problem;
    problem.collective = Collective::rma_bcast;
    problem.p = p;
    problem.rank = rank;
    problem.order = Order::identity(p);
    problem.sizes = Sizes::parts(bytes, 1, 1);
    ScheduleBuilder schedule(problem);
    const Knomial tree(p, 2);
    StepId awaited = ScheduleBuilder::none;
    if (rank != 0) awaited = schedule.await(tree.parent(rank), {0, 1});
    schedule.wait(awaited);
    std::vector<Position> served = tree.children(rank);
    const bool ascending = children == Children::ascending_each_flushed;
    if (!ascending) std::reverse(served.begin(), served.end());
    StepId flushed = ScheduleBuilder::none;
    for (const Rank child : served) {
      schedule.wait(flushed);  // before the next child, not before saying that one is done
      schedule.put(child, {0, 1});
      schedule.put_description(child);
      schedule.notify(child, {0, 1});
      if (ascending) flushed = schedule.flush(child);
    }
    for (const Rank child : served) {
      if (!ascending) schedule.flush(child);
    }
    for (Rank other = 1; rank == 0 && other < p; ++other) schedule.await(other, {});
    if (rank != 0) schedule.after(schedule.notify(0, {}), awaited);
    all.push_back(schedule.done());
  }
  return all;
}

double priced(int p, Bytes bytes, Children children, PriceModel model) {
  return *price(as_in_the_paper(p, bytes, children), example, model);
}

// A stage is o + 2 q + L + o_r = 2 + 8 + 5 + 3 = 18 with q = max(o, g) = 4; at the end o + L = 7.
TEST(PaznikovsNumbers, OfTheFormula) {
  EXPECT_DOUBLE_EQ(rma_binomial_seconds(8, 1, example, PriceModel::logp), 3 * 18 + 7);
  EXPECT_DOUBLE_EQ(rma_binomial_seconds(8, 1001, example, PriceModel::loggp), 91);  // 3 * 28 + 7
  EXPECT_DOUBLE_EQ(rma_binomial_seconds(64, 1, example, PriceModel::logp), 115);
  // Served one after the other, all but the last child of a rank take it 2 q + o + 2 L = 20.
  EXPECT_DOUBLE_EQ(rma_ascending_seconds(8, 1, example, PriceModel::logp), 121);
  EXPECT_DOUBLE_EQ(rma_ascending_seconds(64, 1, example, PriceModel::logp), 415);
}

TEST(PaznikovsNumbers, AreThoseOfTheSchedules) {
  constexpr auto together = Children::descending_flushed_at_the_end;
  constexpr auto each = Children::ascending_each_flushed;
  EXPECT_DOUBLE_EQ(priced(8, 1, together, PriceModel::logp), 61);
  EXPECT_DOUBLE_EQ(priced(8, 1001, together, PriceModel::loggp), 91);
  EXPECT_DOUBLE_EQ(priced(64, 1, together, PriceModel::logp), 115);
  EXPECT_DOUBLE_EQ(priced(8, 1, each, PriceModel::logp), 121);
  EXPECT_DOUBLE_EQ(priced(64, 1, each, PriceModel::logp), 415);
}

TEST(PaznikovsNumbers, OfSchedulesWhoseFlagsWaitForTheData) {
  // Put 4 + 2 + 5 (after another put), back 5, flag 2 + 5, seen 3, thrice; done 7. What travels in
  // the flag saves the round trip: 3 (2 + 5 + 3) + 7.
  EXPECT_DOUBLE_EQ(
      *price(schedules_of("binomial:carry=0", call_of(2, 1)), example, PriceModel::logp),
      2 + 5 + 5 + 2 + 5 + 3 + 7);
  EXPECT_DOUBLE_EQ(*price(schedules_of("binomial", call_of(8, 1)), example, PriceModel::logp), 37);
  EXPECT_LT(*price(schedules_of("binomial:carry=0", call_of(64, 1)), example, PriceModel::logp),
            *price(schedules_of("paznikov", call_of(64, 1)), example, PriceModel::logp) / 3);
}

// A request in windows: the data 2 + 5, back 5, the description 2 + 5, back 5, the flag 2 + 5, seen
// 3: 34. Its flush ends at 36, before which the next child is not served, nor is this rank done. Of
// 8 ranks the last one done is rank 6, the last child of rank 4, the last one of the root: 36 + 36
// + 34, 36 + 34, its own child 36, and done 7.
TEST(PaznikovsNumbers, OfRequestsInWindows) {
  const auto seconds = [](int p, Bytes bytes, const Machine& machine, PriceModel model) {
    return *price(schedules_of("paznikov:protocol=windows", call_of(p, bytes)), machine, model, {},
                  Notifications::windows);
  };
  EXPECT_DOUBLE_EQ(seconds(2, 1, example, PriceModel::logp), 34 + 7);
  EXPECT_DOUBLE_EQ(seconds(8, 1, example, PriceModel::logp), 4 * 36 + 2 * 34 + 7);
  // 1000 G = 10 for each copy of the data.
  EXPECT_DOUBLE_EQ(seconds(8, 1001, example, PriceModel::loggp), 4 * 46 + 2 * 44 + 7);
  // Where puts wait for their target's thread, so do both flushes before the flag, and its own.
  Machine waits = example;
  waits.serving = 10;
  EXPECT_DOUBLE_EQ(seconds(8, 1, waits, PriceModel::logp), 4 * 66 + 2 * 54 + 7);
  // Notifications are not requests: the flag follows the data's flush.
  EXPECT_LT(*price(schedules_of("paznikov", call_of(8, 1)), example, PriceModel::logp),
            seconds(8, 1, example, PriceModel::logp));
}

TEST(PaznikovsNumbers, OfMessagesHaveNoWindows) {
  const auto schedules = schedules_of("paznikov", call_of(8, 1001));
  for (const PriceModel model : {PriceModel::hockney, PriceModel::overlapped}) {
    EXPECT_DOUBLE_EQ(*price(schedules, example, model, {}, Notifications::windows),
                     *price(schedules, example, model));
  }
}

TEST(Crossover, OfLinearAndBinomialIsWhereTheModelsSay) {
  const Machine cluster;
  const auto seconds = [&](const char* name, int p, Bytes bytes) {
    return *price(schedules_of(name, call_of(p, bytes)), cluster, PriceModel::loggp);
  };
  EXPECT_LT(seconds("linear", 4, 1000), seconds("binomial", 4, 1000));
  EXPECT_GT(seconds("linear", 256, 1000), seconds("binomial", 256, 1000));
  EXPECT_GT(seconds("linear", 16, 1 << 20), seconds("binomial", 16, 1 << 20));
  EXPECT_GT(seconds("binomial", 48, 1 << 24), seconds("binary:parts=64", 48, 1 << 24));
}

/// Gigabit Ethernet: a wire of 80 us, 8 ns a byte, a thread that looks after 60 us.
constexpr Machine ethernet = {1e-4, 8e-9, 1e-5, 1e-5, 6e-5};

TEST(Ranking, CountsWhatAPutWaitsForItsTarget) {
  const auto seconds = [&](const char* name, double serving) {
    Machine waits = ethernet;
    waits.serving = serving;
    return *price(schedules_of(name, call_of(16, 1 << 20)), waits, PriceModel::loggp);
  };
  // The root's flushes wait, side by side, for threads that sleep 3 ms.
  EXPECT_GE(seconds("binomial", 3e-3) - seconds("binomial", 0), 3e-3 * 0.999);
  // What travels in notifications does not.
  EXPECT_DOUBLE_EQ(seconds("binary", 3e-3), seconds("binary", 0));
  EXPECT_LT(seconds("binary", 0), seconds("binomial", 0));
}

TEST(Ranking, OfOneMebibyteOverEthernet) {
  for (const int p : {16, 48}) {
    const auto seconds = [&](const char* name) {
      return *price(schedules_of(name, call_of(p, 1 << 20)), ethernet, PriceModel::loggp);
    };
    EXPECT_LT(seconds("binomial"), seconds("linear")) << p;
    EXPECT_LT(seconds("binary"), seconds("binomial")) << p;
    const Features features{Collective::rma_bcast, p, 1 << 20};
    const Choice choice = choose_one_sided(features, ethernet);
    const std::string_view chosen = choice.setting.specification.algorithm->name;
    EXPECT_TRUE(chosen == "binary" || chosen == "chain") << chosen;
    Machine waits = ethernet;
    waits.serving = 3e-3;
    for (const Candidate& candidate : choose_one_sided(features, waits).candidates) {
      EXPECT_NE(candidate.name.find("carry=all"), std::string::npos) << candidate.name;
    }
  }
}

TEST(Ranking, TakesLeadersWhereRanksShareNodes) {
  const std::vector<int> eight_each(6, 8);
  const Nodes nodes = Nodes::consecutive(eight_each);
  for (const Bytes bytes : {Bytes{8}, Bytes{1} << 20}) {
    const Features features{Collective::rma_bcast, nodes.p(), bytes};
    const Choice choice = choose_one_sided(features, ethernet, &nodes);
    EXPECT_TRUE(choice.setting.specification.parameters.nodes) << bytes;
  }
  const std::vector<int> alone(6, 1);
  const Nodes single = Nodes::consecutive(alone);
  const Features features{Collective::rma_bcast, 6, 1000};
  const Choice choice = choose_one_sided(features, ethernet, &single);
  EXPECT_FALSE(choice.setting.specification.parameters.nodes);
}

/// One notification of the vector enters each node but the root's, whatever the mapping.
TEST(Leaders, AreReachedOnce) {
  for (const char* mapping : {"1,4,2,3,1", "1,4,2,3,1:round_robin", "3x4:shuffled", "6"}) {
    const auto nodes = std::make_shared<const Nodes>(*nodes_from(mapping));
    for (const char* name : {"linear:nodes=on", "knomial:k=3,nodes=on,order=by_size"}) {
      for (Rank root = 0; root < nodes->p(); ++root) {
        Call call = call_of(nodes->p(), 100, root);
        call.nodes = nodes;
        std::multiset<int> entered;
        const auto spec = *specification(Collective::rma_bcast, name);
        for (const Schedule& schedule : Problems(spec, call).schedules()) {
          for (const Step& step : schedule.steps) {
            const bool tells = step.kind == StepKind::notify && !step.blocks.range.empty();
            const int to = tells ? nodes->node_of(step.peer) : -1;
            if (tells && to != nodes->node_of(schedule.rank)) entered.insert(to);
          }
        }
        EXPECT_EQ(static_cast<int>(entered.size()), nodes->count() - 1) << mapping << name;
        EXPECT_EQ(entered.count(nodes->node_of(root)), 0U) << mapping << name;
      }
    }
  }
}

/// A broadcast of 100 bytes to 4 ranks along the binomial tree, natural order:
///     rank 0    0 put 2   1 put 1   2 flush 2   3 notify 2   4 flush 1   5 notify 1   6-8 await
///     rank 2    0 await 0   1 put 3   2 flush 3   3 notify 3   4 notify 0
/// In its program the root copies the vector to its own window first.
class Overtaking : public testing::Test {
 protected:
  void reset(const std::string& algorithm, Collective collective = Collective::rma_bcast) {
    call_ = call_of(4, 100);
    call_.collective = collective;
    specification_ = *specification(collective, algorithm);
    schedules_ = Problems(specification_, call_).schedules();
  }
  void SetUp() override { reset("binomial:order=natural,carry=0"); }
  /// The first fault of the programs.
  std::string check() {
    ProgramVerifier verifier;
    const Problems problems(specification_, call_);
    return fault_of(verifier, specification_, call_, problems, schedules_, 0, 1);
  }
  Step& step(Rank rank, StepId id) {
    return schedules_[static_cast<std::size_t>(rank)].steps[static_cast<std::size_t>(id)];
  }
  void expect(const std::string& text) {
    EXPECT_NE(check().find(text), std::string::npos) << check();
  }
  Call call_;
  Specification specification_;
  std::vector<Schedule> schedules_;
};

TEST_F(Overtaking, IsNotPossibleInTheList) {
  EXPECT_EQ(check(), "");
  for (const char* parts : {"chain:parts=3,carry=0", "binary:parts=3,carry=all", "paznikov"}) {
    reset(parts);
    EXPECT_EQ(check(), "") << parts;
  }
}

TEST_F(Overtaking, AMissingFlushIsCaught) {
  step(2, 2).kind = StepKind::copy;
  step(2, 2).peer = no_rank;
  expect("rank 2 step 3 operation 2 may overtake operation 1 (put 3): no flush comes between them");
}

TEST_F(Overtaking, AFlushOfAnotherRankIsCaught) {
  step(0, 2).peer = 1;
  expect("rank 0 step 3 operation 4 may overtake operation 1 (put 2)");
}

TEST_F(Overtaking, AFlagBeforeItsPutIsCaught) {
  std::swap(step(2, 1), step(2, 3));
  step(2, 1).after = -1;
  expect("rank 2 step 3 operation 3 is never followed by a notification of rank 3");
}

TEST_F(Overtaking, ThePapersOwnOrderIsCaught) {
  for (const auto children :
       {Children::ascending_each_flushed, Children::descending_flushed_at_the_end}) {
    schedules_ = as_in_the_paper(4, 100, children);
    expect("rank 0 step 2 operation 3 may overtake operation 1 (put ");
  }
}

TEST_F(Overtaking, OtherFaultsOfNotificationsAreCaught) {
  reset("binomial:order=natural");
  step(0, 0).carries = false;
  expect("rank 0 step 0 operation 1 sends 0 bytes to rank 2, which receives 100");
  reset("binomial:order=natural");
  schedules_[0].steps.pop_back();
  expect("is a send without a partner at rank 0");
}

TEST_F(Overtaking, SayingTooSoonThatARankIsDoneIsCaught) {
  reset("chain:parts=2,carry=0");  // rank 3 awaits both parts, and is done
  std::swap(step(3, 1), step(3, 2));
  step(3, 1).after = step(3, 2).after = 0;
  expect("rank 3 step 2 operation 2 ends without a notification of the root that its rank is done");
}

TEST_F(Overtaking, AnAnswerBeforeTheQuestionIsCaught) {
  for (const Collective collective : {Collective::rma_gather, Collective::rma_reduce}) {
    reset("linear:order=natural", collective);
    EXPECT_EQ(check(), "");
    std::swap(step(1, 0), step(1, 1));
    step(1, 0).after = -1;
    expect("rank 1 step 0 operation 0 may run before its rank has been notified of the call");
  }
}

/// Of 8 ranks, in the units of the paper's example: a question or what travels in one takes
/// 2 + 5 + 3 = 10 a stage.
TEST(Answers, TakeAsManyStagesAsTheQuestion) {
  const auto seconds = [&](Collective collective, const char* name) {
    const Call call{collective, 0, std::vector<Bytes>(8, 1), 0};
    return *price(schedules_of(name, call), example, PriceModel::logp);
  };
  EXPECT_DOUBLE_EQ(seconds(Collective::rma_gather, "binomial"), 60);
  EXPECT_DOUBLE_EQ(seconds(Collective::rma_reduce, "binomial"), 60);
  EXPECT_DOUBLE_EQ(seconds(Collective::rma_scatter, "binomial"), 37);
}

TEST_F(Overtaking, StepsOfMessagesAreNone) {
  step(0, 5).kind = StepKind::send;
  step(1, 0).kind = StepKind::recv;
  expect("rank 0 step 1 operation 2 is never followed by a notification of rank 1");
}

}  // namespace
}  // namespace tutti
