/// What reports say of measured candidates.
#include <gtest/gtest.h>

#include "report/content.hpp"
#include "unit/json_reader.hpp"

namespace tutti {
namespace {

MeasuredCandidate candidate(const std::string& name, double median, const std::string& state) {
  MeasuredCandidate made;
  made.name = name;
  made.state = state;
  made.why = "because it is " + state;
  made.median = median;
  if (median < 0) return made;
  made.calls = 16;
  made.least = 0.5 * median;
  made.most = 2 * median;
  made.confidence = 0.979;
  return made;
}

/// On 4 of 8 ranks. The MPI's own takes 10 ms, what is selected 4 ms, and another one 3 ms.
Summary summary() {
  MeasuredCase known;
  known.id = 7;
  known.min_bytes = 33;
  known.max_bytes = 64;
  known.evidence = "this run";
  known.reason = "measured 2.5x faster than the MPI's own over 16 calls";
  known.selected = 1;
  known.explored = 5;
  known.exploring = 0.25;
  known.candidates = {candidate("native", 0.01, "slower"), candidate("bruck", 0.004, "selected"),
                      candidate("ring", 0.003, "unconfirmed"),
                      candidate("linear", -1, "not explored")};
  Summary whole;
  whole.ranks = 8;
  whole.nodes = 1;
  whole.seconds_sum = 8 * 1.5;
  whole.seconds_max = 1.5;
  whole.tuning.add({99, Collective::alltoall, 4, 0.5, {known}});
  SiteCalls calls;
  calls.collective = Collective::alltoall;
  calls.calls = 25;
  calls.site = "app+0x1";
  calls.decision = "bruck: why";
  calls.cases = {{99, {7, 0, false}, 10}, {99, {7, 1, false}, 10}, {99, {7, 2, true}, 5}};
  whole.calls = {calls};
  calls.site = "app+0x2";
  calls.cases = {{99, {7, 1, false}, 10}, {99, {8, 1, false}, 1000}, {98, {7, 1, false}, 1000}};
  whole.calls.push_back(calls);
  return whole;
}

TEST(TuningOfReport, CountsWhatWasSavedByMedians) {
  const ReportedTuning tuning = tuning_of(summary(), 8);
  ASSERT_EQ(tuning.cases.size(), 1U);
  const ReportedCase& one = tuning.cases.front();
  EXPECT_EQ(one.calls, 35);  // calls of other cases and communicators do not count
  ASSERT_EQ(one.sites.size(), 2U);
  EXPECT_EQ(one.sites[0].calls, 25);
  // 20 calls saved 6 ms each. 10 calls of the MPI's own saved nothing; 5 calls explored.
  EXPECT_NEAR(one.saved, 0.12, 1e-12);
  ASSERT_TRUE(one.interval);
  EXPECT_NEAR(one.interval->least, 20 * (0.005 - 0.008), 1e-12);
  EXPECT_NEAR(one.interval->most, 20 * (0.02 - 0.002), 1e-12);
  // The 3 ms of ring would have saved 1 ms in 20 calls and 7 ms in 10 calls.
  ASSERT_TRUE(one.on_table);
  EXPECT_EQ(one.on_table->candidate, 2);
  EXPECT_NEAR(one.on_table->seconds, 0.09, 1e-12);
  EXPECT_EQ(one.on_table->why, "because it is unconfirmed");
  // In the mean over 8 ranks, of which 4 took part.
  EXPECT_NEAR(tuning.saved, 0.06, 1e-12);
  EXPECT_NEAR(tuning.exploring, 0.25, 1e-12);
  ASSERT_EQ(tuning.collectives.size(), 1U);
  EXPECT_EQ(tuning.collectives.front().collective, Collective::alltoall);
  EXPECT_NEAR(tuning.collectives.front().seconds, 0.25, 1e-12);
}

TEST(TuningOfReport, IsOfTheCommunicatorInThePartOfOneProcess) {
  const ReportedTuning tuning = tuning_of(summary(), 0);
  EXPECT_NEAR(tuning.saved, 0.12, 1e-12);
  EXPECT_NEAR(tuning.exploring, 0.5, 1e-12);
}

TEST(TuningOfReport, SaysIfOnlyTheCallsBeforeAreOnTheTable) {
  Summary whole = summary();
  whole.tuning.all[0].cases[0].candidates[2].median = 0.005;
  const ReportedCase one = tuning_of(whole, 8).cases.front();
  ASSERT_TRUE(one.on_table);
  EXPECT_NEAR(one.on_table->seconds, 0.06, 1e-12);  // 10 calls, 6 ms each
  EXPECT_EQ(one.on_table->why, "calls before it was selected");
  whole.calls[0].cases.erase(whole.calls[0].cases.begin());
  EXPECT_FALSE(tuning_of(whole, 8).cases.front().on_table);
}

TEST(TuningOfReport, KnowsNoBoundsWithoutIntervals) {
  Summary whole = summary();
  whole.tuning.all[0].cases[0].candidates[1].confidence = 0;
  EXPECT_FALSE(tuning_of(whole, 8).cases.front().interval);
}

TEST(TuningOfReport, SurvivesBytesAndJoins) {
  Summary whole = summary();
  auto read = summary_from_bytes(to_bytes(whole));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(content_of(*read, "")), to_json(content_of(whole, "")));
  // Another process was root of as many calls; it does not record the communicator.
  read->tuning = {};
  join(whole, std::move(*read));
  EXPECT_EQ(tuning_of(whole, 8).cases.front().calls, 70);
}

TEST(TuningOfReport, IsBounded) {
  TuningRecords records;
  for (int i = 0; i < 300; ++i) {
    records.add({static_cast<std::uint64_t>(i), Collective::bcast, 2, 0.5, {}});
  }
  EXPECT_EQ(records.all.size(), TuningRecords::records_at_most);
  EXPECT_EQ(records.left_out, 44);
  EXPECT_DOUBLE_EQ(records.left_out_exploring, 44.0);
  std::vector<CallsOfCase> calls;
  for (int i = 0; i < 2000; ++i)
    add_calls(calls, {static_cast<std::uint64_t>(i), {1, 0, false}, 1});
  EXPECT_EQ(calls.size(), 1025U);
  EXPECT_EQ(calls.back().calls, 2000 - 1024);
}

TEST(TuningOfReport, SaysHowManyCallsOfFurtherCasesThereAre) {
  Summary whole = summary();
  Summary other = summary();
  for (int i = 0; i < 2000; ++i) {
    add_calls(whole.calls[0].cases, {1000, {i, 0, false}, 1});
    add_calls(other.calls[0].cases, {1001, {i, 0, true}, 1});
  }
  const int left_out = 2000 - (1024 - 3);
  EXPECT_EQ(tuning_of(whole, 8).left_out_calls, left_out);
  EXPECT_EQ(content_of(other, "").calls[0].explored, 5 + 2000);
  join(whole, std::move(other));
  EXPECT_EQ(tuning_of(whole, 8).left_out_calls, left_out + 2000);
  EXPECT_EQ(content_of(whole, "").calls[0].explored, 2 * 5 + 2000);
}

TEST(TuningText, EndsWithTheAccount) {
  const std::string text = to_text(content_of(summary(), "MPICH 4"));
  EXPECT_TRUE(
      text.ends_with("\n\ntime in collectives 1.50 s, saved 60.0 ms, spent exploring 250 ms\n"))
      << text;
}

TEST(TuningText, SumsUpLinesThatExplore) {
  Summary whole = summary();
  whole.calls[1].calls = 5;
  whole.calls[1].decision = "ring: exploring";
  whole.calls[1].cases = {{99, {7, 2, true}, 5}};
  const ReportContent content = content_of(whole, "MPICH 4");
  const std::string text = to_text(content);
  EXPECT_EQ(text.find("ring: exploring"), std::string::npos) << text;
  EXPECT_NE(text.find("not listed: 5 calls that explored candidates\n"), std::string::npos);
  EXPECT_NE(to_json(content).find(R"("explored":5,)"), std::string::npos);
}

TEST(TuningJson, HasItsFields) {
  const std::string json = to_json(content_of(summary(), ""));
  EXPECT_TRUE(test::JsonReader::accepts(json)) << json;
  for (
      const char* part :
      {R"({"seconds":1.5,"saved":0.06,"exploring":0.25,"left_out":0,"left_out_calls":0,)",
       R"("cases":[{"collective":"alltoall","ranks":4,"bytes":[33,64],"selected":"bruck",)",
       R"("evidence":"this run","calls":35,"explored":5,"saved":0.12,"saved_interval":[-0.06,0.36],)",
       R"("on_table":{"candidate":"ring","seconds":0.09,"why":"because it is unconfirmed"},)",
       R"("sites":[{"site":"app+0x1","calls":25},{"site":"app+0x2","calls":10}],)",
       R"({"name":"linear","state":"not explored","why":"because it is not explored","calls":0,)"
       R"("median":null,"interval":null,"confidence":null})"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

}  // namespace
}  // namespace tutti
