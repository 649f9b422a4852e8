/// Logs of several ranks join into what the calls were, in any sequence.
#include "report/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti {
namespace {

const std::string decision = "ordered_tree: requested";
const char places[3] = {};
const void* const at_root = &places[0];
const void* const elsewhere = &places[1];

std::string name_of_place(const void* site) {
  return site == nullptr ? "C API"
                         : "place " + std::to_string(static_cast<const char*>(site) - places);
}

/// Rank r of p arrives at call + r / 8 and leaves at call + 2; the root, rank 1 where there is one,
/// calls from its own place.
CallLog log_of(Rank rank, int p, std::uint64_t calls, std::uint64_t communicator = 7) {
  CallLog log;
  for (std::uint64_t call = 0; call < calls; ++call) {
    CallRecord record;
    record.collective = Collective::gatherv;
    record.communicator = communicator;
    record.call = call;
    record.rank = rank;
    record.p = p;
    record.root = std::min(1, p - 1);
    record.site = rank == record.root ? at_root : elsewhere;
    record.own = 8;
    if (rank == record.root) {
      record.total = 8 * p;
      record.largest = 8;
    }
    record.decision = &decision;
    record.arrival = static_cast<double>(call) + rank / 8.0;
    record.exit = static_cast<double>(call) + 2;
    if (call > 0) record.ahead = -0.5 * rank;
    if (call > 0) record.progress_hint = 0.25 * rank;
    log.add(record);
  }
  return log;
}

Summary summary_of(Rank rank, int p, std::uint64_t calls, Node node = 0) {
  return summarise(log_of(rank, p, calls), {rank, node, rank == 0 || node != 0}, name_of_place);
}

TEST(Summary, OneRankIsAWholeCommunicatorOfOne) {
  const Summary summary = summarise(log_of(0, 1, 3), {}, name_of_place);
  ASSERT_EQ(summary.calls.size(), 1U);
  EXPECT_EQ(summary.calls[0].timed, 3);
  EXPECT_TRUE(summary.tracks.empty());
}

TEST(Summary, RanksWithOtherSitesJoinCallByCall) {
  Summary whole = summary_of(0, 5, 4);
  EXPECT_TRUE(whole.calls.empty()) << "lines are the root's";
  for (Rank rank = 1; rank < 5; ++rank) join(whole, summary_of(rank, 5, 4));
  EXPECT_EQ(whole.ranks, 5);
  EXPECT_EQ(whole.nodes, 1);
  EXPECT_TRUE(whole.tracks.empty()) << "every call is complete";
  ASSERT_EQ(whole.calls.size(), 1U);
  const SiteCalls& calls = whole.calls[0];
  EXPECT_EQ(calls.site, "place 0");
  EXPECT_EQ(calls.other_sites, (std::vector<std::string>{"place 1"}));
  EXPECT_EQ(calls.calls, 4);
  EXPECT_EQ(calls.bytes, 4 * 5 * 8);
  EXPECT_EQ(calls.measured, 4);
  EXPECT_EQ(calls.timed, 4);
  EXPECT_DOUBLE_EQ(calls.run_sum, 4 * 2.0);             // arrival of rank 0 to the exit of all
  EXPECT_DOUBLE_EQ(calls.spread.median(), 0.5);         // rank 4 after rank 0
  EXPECT_DOUBLE_EQ(calls.moving_sum, 4 * 1.5);          // from rank 4's arrival on
  EXPECT_DOUBLE_EQ(calls.elapsed_sum, 4 * (2 - 0.25));  // arrivals are 0.25 in the mean
  EXPECT_DOUBLE_EQ(whole.seconds_max, 4 * 2.0);
  EXPECT_DOUBLE_EQ(whole.seconds_sum, 4 * 5 * 1.75);
}

TEST(Summary, SizesNameTheRootOfMostCalls) {
  CallTotals totals;
  const std::vector<SizedCalls>& sizes = totals.sizes;
  totals.add_sized({4, 6, 3, 60, 3, 0.5, {{1, 3}}});
  totals.add_sized({4, 6, 5, 100, 5, 0.25, {{2, 5}}});
  totals.add_sized({4, 6, 1, 20, 1, 0.25, {{3, 1}}});
  totals.add_sized({8, 6, 1, 20, 1, 0.25, {{3, 1}}});
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].calls, 9);
  EXPECT_EQ(sizes[0].bytes, 180);
  EXPECT_DOUBLE_EQ(sizes[0].seconds, 1);
  EXPECT_EQ(sizes[0].root(), 2);
  totals.add_sized({4, 6, 5, 100, 5, 0.25, {{0, 5}}});
  EXPECT_EQ(sizes[0].root(), 0) << "the lowest of equals";
}

TEST(Summary, CallsOfARootCountHoweverTheyComeTogether) {
  CallTotals totals;
  const std::vector<SizedCalls>& sizes = totals.sizes;
  totals.add_sized({4, 6, 5, 100, 5, 0.25, {{0, 5}}});
  for (int call = 0; call < 100; ++call) totals.add_sized({4, 6, 1, 20, 1, 0.25, {{2, 1}}});
  EXPECT_EQ(sizes[0].root(), 2);
  for (Rank other = 4; other < 200; ++other) totals.add_sized({4, 6, 1, 20, 1, 0.25, {{other, 1}}});
  EXPECT_EQ(sizes[0].root(), 2);
  EXPECT_EQ(sizes[0].roots.size(), roots_at_most);
  totals.add_sized({4, 6, 1000, 20, 1, 0.25, {{300, 1000}}});
  EXPECT_EQ(sizes[0].root(), 300) << "a late one that is frequent";
}

TEST(Summary, TheSequenceOfJoiningDoesNotMatter) {
  std::mt19937 random(1);
  std::vector<Rank> ranks = {0, 1, 2, 3, 4, 5, 6};
  for (int round = 0; round < 50; ++round) {
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::vector<Summary> parts;
    for (const Rank rank : ranks) parts.push_back(summary_of(rank, 7, 1500));
    while (parts.size() > 1) {
      const auto to = random() % (parts.size() - 1);
      join(parts[to], std::move(parts.back()));
      parts.pop_back();
    }
    ASSERT_EQ(parts[0].calls.size(), 1U);
    EXPECT_EQ(parts[0].calls[0].calls, 1500);
    EXPECT_EQ(parts[0].calls[0].timed, 750) << "every second one was kept";
    EXPECT_DOUBLE_EQ(parts[0].calls[0].run_sum, 750 * 2.0);
    EXPECT_DOUBLE_EQ(parts[0].calls[0].spread.max, 0.75);
  }
}

TEST(Summary, WithoutOneClockOnlyElapsedTimesCount) {
  Summary whole = summary_of(0, 2, 3, 0);
  join(whole, summary_of(1, 2, 3, 1));
  EXPECT_EQ(whole.nodes, 2);
  EXPECT_EQ(whole.calls[0].measured, 3);
  EXPECT_EQ(whole.calls[0].timed, 0);
  EXPECT_DOUBLE_EQ(whole.calls[0].elapsed_sum, 3 * (2 - 1 / 16.0));
}

TEST(Summary, CommunicatorsWithinNodesAreTimedThoughTheWorldIsNot) {
  Summary whole;
  for (const std::uint64_t communicator : {10U, 20U}) {
    for (Rank rank = 0; rank < 2; ++rank) {
      const auto node = static_cast<Node>(communicator);
      join(whole,
           summarise(log_of(rank, 2, 3, communicator), {rank, node, rank == 0}, name_of_place));
    }
  }
  EXPECT_EQ(whole.nodes, 2);
  EXPECT_EQ(whole.calls[0].calls, 6);
  EXPECT_EQ(whole.calls[0].timed, 6);
}

TEST(Summary, ACallThatARankDidNotKeepIsCountedButNotTimed) {
  Summary whole = summary_of(0, 3, 5);
  join(whole, summary_of(1, 3, 5));
  EXPECT_EQ(whole.calls[0].measured, 0);
  EXPECT_EQ(whole.calls[0].calls, 5);
  EXPECT_EQ(whole.tracks.size(), 1U);
  join(whole, summary_of(2, 3, 3));
  EXPECT_EQ(whole.calls[0].measured, 3);
}

TEST(Summary, KeepsWhenEachRankCame) {
  Summary whole = summary_of(2, 3, 4);
  join(whole, summary_of(0, 3, 4));
  EXPECT_TRUE(whole.calls.empty());
  join(whole, summary_of(1, 3, 4));
  const SiteCalls& calls = whole.calls.at(0);
  EXPECT_EQ(calls.split, 4);
  EXPECT_EQ(calls.patterns, 1);
  ASSERT_EQ(calls.pattern.calls.size(), 4U);
  EXPECT_EQ(calls.pattern.communicator, 7U);
  EXPECT_EQ(calls.pattern.world, (std::vector<Rank>{0, 1, 2}));
  for (std::uint64_t call = 0; call < 4; ++call) {
    const CallTimes& times = calls.pattern.calls[call];
    EXPECT_EQ(times.call, call);
    EXPECT_EQ(times.root, 1);
    EXPECT_DOUBLE_EQ(times.begin, static_cast<double>(call));
    EXPECT_EQ(times.delays, (std::vector<float>{0, 0.125F, 0.25F}));
    EXPECT_EQ(times.elapsed, (std::vector<float>{2, 1.875F, 1.75F}));
    if (call == 0) {
      EXPECT_TRUE(std::isnan(times.ahead.at(2))) << "nothing was expected of the first call";
      EXPECT_TRUE(std::isnan(times.progress_hint.at(2)));
    } else {
      EXPECT_EQ(times.ahead, (std::vector<float>{0, -0.5F, -1}));
      EXPECT_EQ(times.progress_hint, (std::vector<float>{0, 0.25F, 0.5F}));
    }
  }
  // The root waits from 1/8 to 2/8 and rank 0 for the root from 0 to 1/8, then is held.
  EXPECT_DOUBLE_EQ(calls.parts.waiting, 4 * (0.125 + 0.125) / 3);
  EXPECT_DOUBLE_EQ(calls.parts.held, 4 * 0.125 / 3);
  EXPECT_DOUBLE_EQ(calls.parts.moving, 4 * 1.75);
  EXPECT_DOUBLE_EQ(calls.pattern.waited, 4 * 0.375);
}

TEST(Summary, ShowsTheCommunicatorWhoseRanksWaitMost) {
  std::vector<Summary> parts;
  for (Rank rank = 0; rank < 8; ++rank) {  // two ranks each of 10 and 20, four of 30
    const std::uint64_t communicator = rank < 2 ? 10U : rank < 4 ? 20U : 30U;
    const Rank first = rank < 2 ? 0 : rank < 4 ? 2 : 4;
    const CallLog log = log_of(rank - first, rank < 4 ? 2 : 4, 3, communicator);
    parts.push_back(summarise(log, {rank, 0, rank == 0}, name_of_place));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(parts.begin(), parts.end(), random);
    Summary whole;
    for (Summary part : parts) join(whole, std::move(part));
    EXPECT_EQ(whole.calls.at(0).patterns, 3);
    EXPECT_EQ(whole.calls[0].split, 9);
    EXPECT_EQ(whole.calls[0].pattern.communicator, 30U);
    EXPECT_EQ(whole.calls[0].pattern.world, (std::vector<Rank>{4, 5, 6, 7}));
  }
}

TEST(Summary, WithManyRanksSingleTimesAreOfFewerCalls) {
  const int p = 1000;  // 131 calls of 131,072 times, so every eighth pair of 1024
  Summary whole = summary_of(0, p, 1024);
  for (Rank rank = 1; rank < p; ++rank) join(whole, summary_of(rank, p, 1024));
  const SiteCalls& calls = whole.calls.at(0);
  EXPECT_EQ(calls.timed, 1024);
  EXPECT_EQ(calls.split, 128);
  ASSERT_EQ(calls.pattern.calls.size(), 128U);
  EXPECT_EQ(calls.pattern.calls[1].call, 1U);
  EXPECT_EQ(calls.pattern.calls[2].call, 16U);
  EXPECT_TRUE(whole.tracks.empty());
}

TEST(Summary, CallsThatEndInAnotherSequenceElsewhereAreJoinedByNumber) {
  CallLog backwards;
  for (std::uint64_t call = 6; call-- > 0;) {
    CallRecord record;
    record.collective = Collective::gatherv;
    record.communicator = 7;
    record.call = call;
    record.rank = 0;
    record.p = 2;
    record.root = 1;
    record.decision = &decision;
    record.arrival = static_cast<double>(call);
    record.exit = record.arrival + 1;
    backwards.add(record);
  }
  Summary whole = summarise(backwards, {}, name_of_place);
  join(whole, summary_of(1, 2, 6));
  EXPECT_EQ(whole.calls.at(0).timed, 6);
  EXPECT_EQ(whole.calls[0].pattern.calls.at(5).call, 5U);
}

TEST(Summary, TravelsAsBytes) {
  Summary part = summary_of(1, 3, 1100);
  join(part, summary_of(0, 3, 1100));
  part.destination = "report.json";
  const std::vector<std::byte> bytes = to_bytes(part);
  const std::optional<Summary> read = summary_from_bytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), bytes);
  EXPECT_EQ(read->destination, "report.json");
  ASSERT_EQ(read->calls.at(0).sizes.size(), 1U);
  EXPECT_EQ(read->calls[0].sizes[0].calls, 1100);
  EXPECT_EQ(read->calls[0].sizes[0].bytes, 1100 * 8);
  Summary whole = *read;
  join(whole, summary_of(2, 3, 1100));
  EXPECT_EQ(whole.calls[0].timed, 550);
  EXPECT_EQ(to_bytes(*summary_from_bytes(to_bytes(whole))), to_bytes(whole));
}

TEST(Summary, RefusesOtherBytes) {
  const std::vector<std::byte> bytes = to_bytes(summary_of(1, 3, 4));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(summary_from_bytes(std::span(bytes).first(size))) << size;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(summary_from_bytes(longer));
  EXPECT_FALSE(summary_from_bytes(std::vector<std::byte>(200, std::byte{0xFF})));
}

void add(Quantiles& all, double value, std::uint64_t number) {
  all.add({{{value, number * 0x9E3779B97F4A7C15U}}, value});
}

TEST(Quantiles, MediansAreExactUntilThereAreMany) {
  Quantiles odd;
  for (const int value : {5, 1, 3}) add(odd, value, static_cast<std::uint64_t>(value));
  EXPECT_DOUBLE_EQ(odd.median(), 3);
  Quantiles even = odd;
  add(even, 4, 4);
  EXPECT_DOUBLE_EQ(even.median(), 3.5);
  EXPECT_DOUBLE_EQ(even.max, 5);
}

// Values that come first count as much as later ones, in one list or in several that are joined.
TEST(Quantiles, ValuesCountAlikeWheneverTheyCome) {
  constexpr int count = 300'000;
  Quantiles ascending;
  Quantiles later;
  Quantiles most_first;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    add(ascending, i, number);
    if (i >= count - 1000) add(later, i, number);
    add(most_first, i < 0.6 * count ? 1 : 3, number);
    EXPECT_LE(ascending.values.size(), Quantiles::values_at_most);
  }
  EXPECT_NEAR(ascending.median(), count / 2.0, count / 200.0);
  EXPECT_DOUBLE_EQ(ascending.max, count - 1);
  EXPECT_DOUBLE_EQ(most_first.median(), 1);
  Quantiles joined = later;
  joined.add(ascending);
  ascending.add(later);
  EXPECT_DOUBLE_EQ(joined.median(), ascending.median());
  EXPECT_NEAR(joined.median(), count / 2.0 + 500, count / 200.0);
}

TEST(Summary, ClocksThatDriftAreBroughtTogether) {
  // Two ranks that arrive together by the common clock, the second one's own being 3 s ahead.
  Summary whole = summarise(log_of(0, 2, 3), {0, 0, true}, name_of_place);
  EXPECT_FALSE(whole.clock_drift) << "no comparison";
  const ProcessLocation ahead = {1, 0, false, [](double time) { return time - 3; }, 2e-5, true};
  join(whole, summarise(log_of(1, 2, 3), ahead, name_of_place));
  ASSERT_EQ(whole.calls.size(), 1U);
  EXPECT_GT(whole.calls[0].spread.max, 2.5) << "the logs agree, so that the correction shows";
  EXPECT_DOUBLE_EQ(whole.clock_error, 2e-5);
  EXPECT_FALSE(whole.clock_drift) << "one clock was compared less than twice";
  ProcessLocation unknown = {2, 2, true};
  unknown.clock_error = -1;
  join(whole, summarise(log_of(2, 2, 3), unknown, name_of_place));
  EXPECT_LT(whole.clock_error, 0) << "one clock could not be compared";
  join(whole, summarise(log_of(3, 2, 3), ahead, name_of_place));
  EXPECT_LT(whole.clock_error, 0);
}

}  // namespace
}  // namespace tutti
