/// What reports say and how they look.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "report/content.hpp"
#include "unit/json_reader.hpp"

namespace tutti {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

SiteCalls write_calls() {
  SiteCalls calls;
  calls.collective = Collective::gatherv;
  calls.site = "particles+0x114c";
  calls.other_sites = {"particles+0x11f0"};
  calls.decision = "ordered_tree: requested";
  calls.calls = 4;
  calls.bytes = 5 * 1024 * 1024;
  calls.irregularity_sum = 4 * 3.25;
  calls.irregularity_max = 9;
  calls.sizes = {{16, 20, 1, 524288, 1, 0.0005, {{2, 1}}},
                 {16, 19, 3, 786432, 12, 0.006, {{5, 1}, {2, 2}}}};
  calls.measured = calls.timed = 4;
  calls.elapsed_sum = 4 * 0.0015;
  calls.run_sum = 4 * 0.0025;
  calls.run_max = 0.125;
  calls.moving_sum = 4 * 0.0005;
  for (const double spread : {0.00025, 0.00125, 0.00175, 0.0115})
    calls.spread.add({{{spread}}, spread});
  calls.split = 2;
  calls.parts = {2 * 0.0004, 2 * 0.0001, 2 * 0.001};
  calls.patterns = 1;
  calls.pattern.world = {0, 1, 2};
  calls.pattern.calls = {{0,
                          2,
                          10,
                          {0, 0.001F, 0.0005F},
                          {0.002F, 0.001F, 0.0015F},
                          std::vector<float>(3, unknown),
                          std::vector<float>(3, unknown)},
                         {2,
                          2,
                          10.5,
                          {0, 0.003F, 0.00025F},
                          {0.004F, 0.001F, 0.003F},
                          {unknown, -0.001F, 0},
                          {unknown, 0.005F, 0.25F}}};
  return calls;
}

SiteCalls setup_calls() {
  SiteCalls calls;
  calls.collective = Collective::scatter;
  calls.site = "C API";
  calls.decision = "native: predicted speedup below 10 %";
  calls.calls = 2;
  calls.sizes = {{16, 6, 2, 80, 2, 25e-6, {{0, 2}}}};
  calls.bytes = 640;
  calls.irregularity_sum = 2;
  calls.irregularity_max = 1;
  calls.seconds = 2 * 12.5e-6;
  return calls;
}

Summary summary() {
  Summary summary;
  summary.ranks = 16;
  summary.nodes = 1;
  summary.seconds_sum = 16 * 0.006025;
  summary.seconds_max = 0.0125;
  summary.calls = {setup_calls(), write_calls()};
  return summary;
}

const std::string mpich =
    "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022";

TEST(ReportText, IsAnAlignedTable) {
  EXPECT_EQ("\n" + to_text(content_of(summary(), mpich)), R"(
Tutti 0.1.0 with MPICH 4.0.2, 16 ranks on 1 node
times: all ranks read the same clock
seconds in the calls below: 0.006025 in the mean over ranks, 0.012500 at most

collective                calls      bytes     time   spread   moving  elapsed
gatherv                       4   5.00 MiB  2.50 ms  1.50 ms   500 us  1.50 ms
  at particles+0x114c
  ordered_tree: requested
  rank 1 is last in 100 % of 2 calls, 2.00 ms behind the first
scatter                       2    640 B        -        -        -    12.5 us
  at C API
  native: predicted speedup below 10 %
  time, spread, moving unknown: no call has recorded times of all ranks

time: first arrival to last exit, mean; spread: first to last arrival, median;
moving: last arrival to last exit, mean; elapsed: arrival to exit, mean over
ranks. From TUTTI_REPORT=name.json `tutti report` shows functions, source lines,
candidates and late ranks.

time in collectives 6.03 ms, saved 0.00 us, spent exploring 0.00 us
)");
}

TEST(ReportText, TellsTheShareOfTheRunAndWhatIsNotHandled) {
  Summary with_others = summary();
  with_others.wall_sum = 16 * 0.024;
  with_others.others = {{"MPI_Scan", 2}};
  Summary more;
  more.others = {{"MPI_Ibcast", 30}, {"MPI_Scan", 5}};
  join(with_others, std::move(more));
  ReportContent content = content_of(with_others, mpich);
  content.notes = {"something is odd"};
  const std::string text = to_text(content);
  EXPECT_NE(text.find("\n25.1 % of the 0.024000 seconds from the start to MPI_Finalize\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nnot handled: 30 MPI_Ibcast, 7 MPI_Scan\nnote: something is odd\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  at particles+0x114c: 25.0 % of the run\n"), std::string::npos) << text;
  const std::string json = to_json(content);
  EXPECT_NE(json.find("\"not_handled\":[{\"function\":\"MPI_Ibcast\",\"calls\":30},"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"wall\":0.024,"), std::string::npos) << json;
}

/// With 4,096 calls of all 16 ranks and 8 communicators of 2 ranks, of which few calls are timed.
TEST(ReportContent, SharesTheExactTimeOfAllCalls) {
  Summary summary;
  summary.ranks = 16;
  summary.seconds_sum = 16 * 1.5;
  SiteCalls of_all = setup_calls();
  of_all.calls = 4096;
  of_all.sizes = {{16, 20, 4096, 524288, 1, 0.5, {{0, 1}}}};
  of_all.measured = 1024;
  of_all.elapsed_sum = 1024 * 0.001;  // by far too long: 4.096 s
  SiteCalls of_pairs = of_all;
  of_pairs.site = "elsewhere";
  of_pairs.calls = 8 * 2048;
  of_pairs.sizes = {{2, 20, 8 * 2048, 524288, 1, 0.5, {{0, 1}}}};
  of_pairs.measured = 2048;
  of_pairs.elapsed_sum = 2048 * 0.001;  // 2.048 s of each rank
  summary.calls = {of_pairs, of_all};
  const ReportContent content = content_of(summary, mpich);
  EXPECT_DOUBLE_EQ(content.calls[0].rank_seconds, 1);
  EXPECT_EQ(content.calls[0].site, of_all.site);
  EXPECT_DOUBLE_EQ(content.calls[1].rank_seconds, 0.5);
  // One process knows its own time.
  summary.calls[0].seconds = 0.25;
  EXPECT_DOUBLE_EQ(content_of(summary, mpich, "rank 3").calls[0].rank_seconds, 0.25);
}

TEST(ReportText, SaysThatNothingWasSeen) {
  Summary nothing;
  nothing.ranks = 1;
  nothing.others = {{"MPI_Iallreduce", 4}};
  ReportContent content = content_of(nothing, mpich);
  content.ranks = 8;
  content.nodes.reset();
  content.notes = {"rank 0 recorded no collective call that Tutti handles", "it ends in a blank "};
  const std::string text = to_text(content);
  EXPECT_NE(text.find(", 8 ranks\n"), std::string::npos) << text;
  EXPECT_NE(text.find("note: rank 0 recorded no collective call that Tutti handles\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("note: it ends in a blank\n"), std::string::npos) << text;
  EXPECT_NE(text.find("4 MPI_Iallreduce"), std::string::npos) << text;
}

TEST(ReportText, StaysWithin80Columns) {
  Summary wide = summary();
  SiteCalls& calls = wide.calls[1];
  calls.site = std::string(300, 'x') + "+0x1";
  for (int i = 0; i < 40; ++i) calls.decision += " and a further reason";
  calls.calls = 999'999'999;
  calls.bytes = Bytes{1} << 62;
  calls.run_max = calls.run_sum = 99'999'999;
  calls.irregularity_max = 65536;
  std::istringstream lines(to_text(content_of(wide, mpich)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(ReportText, PartialReportsSaySo) {
  Summary own = summary();
  own.calls = {setup_calls()};
  ReportContent content = content_of(own, "Open MPI v4.1.4, package: x", "process 5 on n1");
  content.ranks = 0;
  const std::string text = to_text(content);
  EXPECT_TRUE(
      text.starts_with("Tutti 0.1.0 with Open MPI v4.1.4\npartial: only calls with process 5 on n1 "
                       "as root\n"))
      << text;
  EXPECT_NE(text.find("unknown: only the root's own times"), std::string::npos);
}

TEST(ReportContent, SaysHowOneSidedCollectivesMove) {
  ReportContent content = content_of(summary(), mpich);
  content.one_sided = "puts wait";
  EXPECT_NE(to_text(content).find("\none-sided: puts wait\n"), std::string::npos);
  EXPECT_NE(to_json(content).find(R"("one_sided":"puts wait",)"), std::string::npos);
}

TEST(ReportText, NothingCalledIsNoTable) {
  Summary none;
  none.ranks = 2;
  none.nodes = 1;
  EXPECT_EQ(to_text(content_of(none, mpich)),
            "Tutti 0.1.0 with MPICH 4.0.2, 2 ranks on 1 node\n"
            "times: all ranks read the same clock\n"
            "seconds in the calls below: 0.000000 in the mean over ranks, 0.000000 at most\n"
            "no calls\n");
}

TEST(ReportJson, HasTheFieldsOfFormat2) {
  const std::string json = to_json(content_of(summary(), mpich));
  EXPECT_TRUE(test::JsonReader::accepts(json)) << json;
  EXPECT_EQ(
      json,
      R"({"format":2,"tutti":"0.1.0","mpi":"MPICH 4.0.2","ranks":16,"nodes":1,"clock_error":0,)"
      R"("clock":"all ranks read the same clock","one_sided":null,)"
      R"("partial":false,"view":"all ranks","seconds":{"mean":0.006025,"max":0.0125},)"
      R"("wall":null,"program":"","modules":[],"notes":[],"not_handled":[],"calls":[)"
      R"({"collective":"gatherv","site":"particles+0x114c",)"
      R"("other_sites":["particles+0x11f0"],"calls":4,"explored":0,"bytes":5242880,)"
      R"("irregularity":{"mean":3.25,"max":9},"sizes":[)"
      R"({"p":16,"bytes":262144,"calls":3,"irregularity":4,"seconds":0.006,"root":2,)"
      R"("roots":[[5,1],[2,2]]},)"
      R"({"p":16,"bytes":524288,"calls":1,"irregularity":1,"seconds":5e-04,"root":2,)"
      R"("roots":[[2,1]]}],)"
      R"("algorithm":"ordered_tree","reason":"requested","seconds":{"mean":0.0025,"max":0.125},)"
      R"("elapsed":{"mean":0.0015,"sum":0.006},"spread":{"median":0.0015,"max":0.0115},)"
      R"("moving":{"mean":5e-04},"spread_note":"",)"
      R"("parts":{"calls":2,"waiting":4e-04,"held":1e-04,"moving":0.001},)"
      R"("late":"rank 1 is last in 100 % of 2 calls, 2.00 ms behind the first",)"
      R"("pattern":{"communicators":1,"ranks":[0,1,2],"calls":[0,2],"roots":[2,2],)"
      R"("begins":[0,0.5],"delays":[[0,0.001,0.0005],[0,0.003,0.00025]],)"
      R"("elapsed":[[0.002,0.001,0.0015],[0.004,0.001,0.003]],)"
      R"("ahead":[[null,null,null],[null,-0.001,0]],"progress_hint":[[null,null,null],[null,0.005,0.25]],)"
      R"("waiting":[0.000375,0,0.001625],"held":[0.001625,0,0],"moving":[0.001,0.001,0.000625],)"
      R"("mean_delay":[0,0.002,0.000375],"last":[0,2,0]}},)"
      R"({"collective":"scatter","site":"C API","other_sites":[],"calls":2,"explored":0,"bytes":640,)"
      R"("irregularity":{"mean":1,"max":1},"sizes":[)"
      R"({"p":16,"bytes":40,"calls":2,"irregularity":1,"seconds":2.5e-05,"root":0,)"
      R"("roots":[[0,2]]}],"algorithm":"native",)"
      R"("reason":"predicted speedup below 10 %","seconds":null,"elapsed":{"mean":1.25e-05,"sum":2.5e-05},)"
      R"("spread":null,"moving":null,)"
      R"("spread_note":"unknown: no call has recorded times of all ranks",)"
      R"("parts":null,"late":null,"pattern":null}],"tuning":)"
      R"({"seconds":0.006025,"saved":0,"exploring":0,"left_out":0,"left_out_calls":0,"method":)"
      R"("median of at most the latest 32 calls noted: time after the last arrival, of rooted )"
      R"(and irregular collectives and scans without a common clock the mean of the longest )"
      R"(and the mean elapsed time; )"
      R"(interval of the median by order statistics","collectives":[],"cases":[]}})"
      "\n");
}

TEST(ReportJson, IsValidWhateverNamesHold) {
  Summary odd = summary();
  odd.calls[1].site = "a\"b\\c\n\xFF";
  odd.calls[1].run_max = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(test::JsonReader::accepts(to_json(content_of(odd, "an \"MPI\""))));
  EXPECT_TRUE(test::JsonReader::accepts(to_json(content_of(Summary(), ""))));
}

TEST(Report, TellsOfHowManyCallsTimesAre) {
  Summary thinned = summary();
  thinned.calls[1].calls = 4000;
  EXPECT_EQ(content_of(thinned, mpich).calls[0].note, "times of 4 calls of 4000");
}

TEST(Report, TellsHowClocksWereCompared) {
  Summary nodes = summary();
  nodes.nodes = 3;
  nodes.clock_error = 21e-6;
  const std::string both = content_of(nodes, mpich).clock;
  for (const char* part : {"ping-pongs", "both ends of the run", "error at most 21.0 us"}) {
    EXPECT_NE(both.find(part), std::string::npos) << both;
  }
  nodes.clock_drift = false;
  EXPECT_NE(content_of(nodes, mpich).clock.find("at the end of the run, drift unknown"),
            std::string::npos);
}

TEST(Report, TellsThatClocksAreNotSynchronised) {
  Summary nodes = summary();
  nodes.nodes = 3;
  nodes.clock_error = -1;
  const std::string late = content_of(summary(), mpich).calls[0].late;
  EXPECT_EQ(content_of(nodes, mpich).calls[0].late, late) << "of ranks with one clock";
  nodes.calls[1].timed = 0;
  const ReportContent content = content_of(nodes, mpich);
  EXPECT_EQ(content.clock, "clocks of nodes could not be compared");
  EXPECT_NE(to_json(content).find(R"("clock_error":null,)"), std::string::npos);
  EXPECT_EQ(content.calls[0].timed, 0);
  EXPECT_EQ(content.calls[0].note, "unknown: clocks of 3 nodes are not synchronised");
  EXPECT_DOUBLE_EQ(content.calls[0].elapsed, 0.0015);
}

}  // namespace
}  // namespace tutti
