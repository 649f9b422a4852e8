/// Totals are exact; times are thinned out alike on all ranks.
#include "report/call_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace tutti {
namespace {

const std::string native = "native: no gain";
const std::string tree = "ordered_tree: requested";
const void* const site = &native;
const void* const other_site = &tree;

CallRecord record_of(Rank rank, std::uint64_t call, const void* from = site) {
  CallRecord record;
  record.collective = Collective::gatherv;
  record.site = from;
  record.communicator = 7;
  record.call = call;
  record.rank = rank;
  record.p = 4;
  record.own = 10;
  if (rank == 0) {
    record.total = 80;
    record.largest = 40;
  }
  record.decision = &tree;
  record.arrival = static_cast<double>(call);
  record.exit = record.arrival + 0.5;
  return record;
}

TEST(CallLog, AddsUpBySiteDecisionAndRole) {
  CallLog log;
  EXPECT_TRUE(log.logged().empty());
  for (std::uint64_t call = 0; call < 3; ++call) log.add(record_of(0, call));
  log.add(record_of(0, 3, other_site));
  CallRecord other = record_of(0, 4);
  other.decision = &native;
  other.largest = 20;
  log.add(other);
  log.add(record_of(1, 5));
  ASSERT_EQ(log.logged().size(), 4U);
  const LoggedCalls& first = log.logged()[0];
  EXPECT_EQ(first.calls, 3);
  EXPECT_EQ(first.bytes, 240);
  EXPECT_DOUBLE_EQ(first.irregularity_sum, 3 * 2.0);  // 40 / (80 / 4)
  EXPECT_DOUBLE_EQ(first.irregularity_max, 2);
  EXPECT_DOUBLE_EQ(first.seconds, 1.5);
  EXPECT_EQ(log.logged()[1].site, other_site);
  EXPECT_EQ(log.logged()[2].decision, native);
  EXPECT_DOUBLE_EQ(log.logged()[2].irregularity_max, 1);
  EXPECT_FALSE(log.logged()[3].at_root);
  EXPECT_EQ(log.logged()[3].bytes, 10);
}

TEST(CallLog, AddsUpByRanksAndMessageSize) {
  CallLog log;
  log.add(record_of(0, 0));  // a mean block of 20
  CallRecord wider = record_of(0, 1);
  wider.total = 4 * 32;  // the last size of the class of 20
  wider.largest = 32;
  log.add(wider);
  wider.call = 2;
  wider.total = 4 * 33;
  log.add(wider);
  wider.call = 3;
  wider.p = 3;
  log.add(wider);
  log.add(record_of(1, 5));
  const std::vector<SizedCalls>& sizes = log.logged().at(0).sizes;
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].calls, 2);
  EXPECT_EQ(sizes[0].bytes, 20 + 32);
  EXPECT_DOUBLE_EQ(sizes[0].irregularity_sum, 2 + 1);
  EXPECT_DOUBLE_EQ(sizes[0].seconds, 1);
  EXPECT_EQ(sizes[1].bytes, 33);
  EXPECT_EQ(sizes[2].p, 3);
  EXPECT_EQ(sizes[2].bytes, 44);
  EXPECT_TRUE(log.logged().at(1).sizes.empty()) << "only the root knows all blocks";
}

TEST(CallLog, BlocksThatStayWithTheirRankHaveNoPartInTheSize) {
  CallLog log;
  CallRecord record = record_of(0, 0);
  record.collective = Collective::alltoallv;
  record.total = 1000 + 30 + 10 + 20;
  record.largest = record.kept = 1000;
  record.largest_sent = 30;
  log.add(record);
  EXPECT_EQ(log.logged()[0].bytes, 1060);
  EXPECT_EQ(log.logged()[0].sizes.at(0).bytes, 20);
  EXPECT_DOUBLE_EQ(log.logged()[0].sizes[0].irregularity_sum, 1.5);
  record.total = record.kept;
  record.largest_sent = 0;
  log.add(record);
  EXPECT_EQ(log.logged()[0].sizes.at(1).bytes, 0);
  EXPECT_DOUBLE_EQ(log.logged()[0].sizes[1].irregularity_sum, 1);
}

TEST(CallLog, AVectorHasOneSizeAndIsRegular) {
  CallLog log;
  CallRecord record = record_of(0, 0);
  record.collective = Collective::allreduce;
  record.total = record.largest = 4096;
  log.add(record);
  EXPECT_DOUBLE_EQ(log.logged()[0].irregularity_max, 1);
  EXPECT_EQ(log.logged()[0].sizes.at(0).bytes, 4096);
}

TEST(CallLog, KeepsAllSizes) {
  CallLog log;
  for (int p = 1; p <= 66; ++p) {
    CallRecord record = record_of(0, static_cast<std::uint64_t>(p));
    record.p = p;
    log.add(record);
  }
  CallTotals totals = log.logged()[0];
  EXPECT_EQ(totals.calls, 66);
  EXPECT_EQ(totals.sizes.size(), 66);
  CallTotals more = totals;
  more.sizes[0].p = 67;
  more.sizes[0].calls = 3;
  totals.add(more);
  EXPECT_EQ(totals.sizes.size(), 67);
  EXPECT_EQ(totals.sizes.front().calls, 1);
  EXPECT_EQ(totals.sizes[1].calls, 2);
  EXPECT_EQ(totals.sizes.back().calls, 3);
}

TEST(CallLog, ADecisionIsKnownByItsTextNotItsAddress) {
  CallLog log;
  std::string text = "linear: why";
  CallRecord record = record_of(0, 0);
  record.decision = &text;
  log.add(record);
  text = "binomial: why";
  log.add(record);
  ASSERT_EQ(log.logged().size(), 2U);
  EXPECT_EQ(log.logged()[0].decision, "linear: why");
  EXPECT_EQ(log.logged()[1].decision, "binomial: why");
}

TEST(CallLog, EmptyBlocksAreRegular) {
  CallLog log;
  CallRecord record = record_of(0, 0);
  record.total = record.largest = 0;
  log.add(record);
  EXPECT_DOUBLE_EQ(log.logged()[0].irregularity_max, 1);
}

std::vector<std::uint64_t> pairs_of(std::uint64_t calls, std::uint64_t stride) {
  std::vector<std::uint64_t> kept;
  for (std::uint64_t call = 0; call < calls; call += 2 * stride) {
    kept.push_back(call);
    if (call + 1 < calls) kept.push_back(call + 1);
  }
  return kept;
}

TEST(CallLog, KeepsEveryCallUntilTheMemoryIsFullThenPairsOfTheStride) {
  for (const std::uint64_t calls : {1U, 1024U, 1025U, 2048U, 2049U, 100'000U}) {
    CallLog log;
    for (std::uint64_t call = 0; call < calls; ++call) log.add(record_of(0, call));
    const Track& track = log.tracks().at(0);
    std::uint64_t stride = 1;
    while (pairs_of(calls, stride).size() > CallLog::calls_in_track) stride *= 2;
    EXPECT_EQ(track.stride, stride);
    const std::vector<std::uint64_t> kept = pairs_of(calls, stride);
    ASSERT_EQ(track.calls.size(), kept.size()) << calls;
    for (std::size_t at = 0; at < kept.size(); ++at) {
      EXPECT_EQ(track.calls[at].call, kept[at]);
      EXPECT_EQ(track.calls[at].arrival, static_cast<double>(kept[at]));
    }
    EXPECT_EQ(log.logged()[0].calls, static_cast<std::int64_t>(calls));
  }
}

TEST(CallLog, RanksKeepTheSameCallsWhateverTheirSites) {
  CallLog root;
  CallLog other;
  for (std::uint64_t call = 0; call < 5000; ++call) {
    root.add(record_of(0, call));
    other.add(record_of(3, call, call % 3 == 0 ? site : other_site));
  }
  ASSERT_EQ(root.tracks()[0].calls.size(), other.tracks()[0].calls.size());
  for (std::size_t at = 0; at < root.tracks()[0].calls.size(); ++at) {
    EXPECT_EQ(root.tracks()[0].calls[at].call, other.tracks()[0].calls[at].call);
  }
}

TEST(CallLog, RanksKeepTheSameCallsInWhateverSequenceTheyEnd) {
  std::mt19937 random(1);
  for (const std::uint64_t calls : {1000U, 1025U, 5000U}) {
    std::vector<std::uint64_t> numbers(calls);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    std::vector<std::uint64_t> expected;
    for (int rank = 0; rank < 5; ++rank) {
      CallLog log;
      for (const std::uint64_t number : numbers) log.add(record_of(rank, number));
      std::vector<std::uint64_t> kept;
      for (const TimedCall& timed : log.tracks()[0].calls) kept.push_back(timed.call);
      std::sort(kept.begin(), kept.end());
      if (rank == 0) expected = kept;
      EXPECT_EQ(kept, expected);
      std::shuffle(numbers.begin(), numbers.end(), random);
    }
  }
  // The even ones first, so that at the first odd one none of the kept ones can go.
  CallLog log;
  for (std::uint64_t call = 0; call < 2048; call += 2) log.add(record_of(0, call));
  for (std::uint64_t call = 1; call < 2048; call += 2) log.add(record_of(0, call));
  EXPECT_EQ(log.tracks()[0].calls.size(), 1024U);
  log.add(record_of(0, 2048));
  EXPECT_EQ(log.tracks()[0].calls.size(), 513U);
}

TEST(CallLog, ARareCollectiveBesideAFrequentOneKeepsItsTimes) {
  CallLog log;
  for (std::uint64_t call = 0; call < 50'000; ++call) {
    CallRecord record = record_of(0, call);
    if (call % 10'000 == 777) {
      record.collective = Collective::scatter;
      record.call = call / 10'000;
    }
    log.add(record);
  }
  ASSERT_EQ(log.tracks().size(), 2U);
  EXPECT_EQ(log.tracks()[1].calls.size(), 5U);
}

TEST(CallLog, MemoryIsBoundedAndTotalsStayExact) {
  CallLog log;
  const std::uint64_t communicators = 3 * CallLog::tracks_at_most;
  for (std::uint64_t call = 0; call < communicators; ++call) {
    CallRecord record = record_of(0, 0);
    record.communicator = call;
    log.add(record);
  }
  EXPECT_EQ(log.tracks().size(), CallLog::tracks_at_most);
  EXPECT_EQ(log.logged()[0].calls, static_cast<std::int64_t>(communicators));
}

}  // namespace
}  // namespace tutti
