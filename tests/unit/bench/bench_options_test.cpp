/// The command line: what it means, and each of its errors.
#include <gtest/gtest.h>

#include <fstream>

#include "bench/options.hpp"

namespace tutti::bench {
namespace {

Result<Options> parsed(std::vector<const char*> arguments) { return parse(arguments); }

void expect_error(const std::vector<const char*>& arguments, std::vector<std::string> parts) {
  const auto options = parsed(arguments);
  ASSERT_FALSE(options) << arguments.back();
  for (const std::string& part : parts) {
    EXPECT_NE(options.error().find(part), std::string::npos) << options.error();
  }
}

TEST(BenchOptions, ReadsTheUsualCommand) {
  const auto options = parsed({"gatherv",     "--algorithm", "native",
                               "--algorithm", "traff",       "--distribution",
                               "spikes",      "--block",     "1,10,100,1000,10000",
                               "--root",      "half",        "--repetitions",
                               "75",          "--warmup=10", "--settle",
                               "30",          "--calls",     "8",
                               "--json",      "out.json",    "--quiet"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->command, Command::gatherv);
  EXPECT_EQ(options->algorithms, (std::vector<std::string>{"native", "traff"}));
  EXPECT_EQ(options->warmup, 10);
  EXPECT_EQ(options->settling, 30);
  EXPECT_EQ(options->calls, 8);
  EXPECT_EQ(options->distributions, (std::vector{Distribution::spikes}));
  EXPECT_EQ(options->blocks, (std::vector<Bytes>{1, 10, 100, 1000, 10000}));
  EXPECT_EQ(options->json, "out.json");
  EXPECT_TRUE(options->quiet && options->check);
}

TEST(BenchOptions, DefaultsDependOnTheCommand) {
  const auto irregular = parsed({"scatterv"});
  EXPECT_EQ(irregular->distributions.size(), 6U);
  EXPECT_EQ(irregular->algorithms, (std::vector<std::string>{"native", "auto"}));
  EXPECT_EQ(parsed({"gather"})->distributions, (std::vector{Distribution::same}));
  EXPECT_EQ(parsed({"allgather_shared"})->totals,
            (std::vector<Bytes>{64 << 10, 1 << 20, 8 << 20, 64 << 20}));
}

TEST(BenchOptions, KeepsTheSettingsOfASpecificationTogether) {
  const auto options = parsed(
      {"gatherv", "--algorithm",
       "ordered_tree:rule=volume,threshold=64K,native,hierarchical(native,leaders=2),knomial:k=3"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->algorithms,
            (std::vector<std::string>{"ordered_tree:rule=volume,threshold=64K", "native",
                                      "hierarchical(native,leaders=2)", "knomial:k=3"}));
}

TEST(BenchOptions, ReadsUnits) {
  EXPECT_EQ(parsed({"gather", "--bytes", "8,64K,8M,1G"})->totals,
            (std::vector<Bytes>{8, 64 << 10, 8 << 20, 1 << 30}));
}

TEST(BenchOptions, BoundsTheTimeOfARow) {
  const auto bounded = parsed({"gather", "--repetitions", "40", "--budget", "2s"});
  ASSERT_TRUE(bounded) << bounded.error();
  EXPECT_EQ(repetitions_within_budget(*bounded, 1e-6), 40);
  EXPECT_EQ(repetitions_within_budget(*bounded, 0), 40);
  EXPECT_EQ(repetitions_within_budget(*bounded, 0.1), 20);
  EXPECT_EQ(repetitions_within_budget(*bounded, 10), 5);
  EXPECT_EQ(
      repetitions_within_budget(*parsed({"gather", "--repetitions", "3", "--budget", "1s"}), 10),
      3);
  EXPECT_EQ(repetitions_within_budget(*parsed({"gather", "--repetitions", "40"}), 10), 40);
  EXPECT_DOUBLE_EQ(parsed({"gather", "--rest", "2ms"})->rest, 2e-3);
  expect_error({"gather", "--budget", "2"}, {"--budget '2'", "50ms"});
}

TEST(BenchOptions, ReadsDelays) {
  const auto options = parsed({"gather", "--delay", "uniform:50ms", "--edge", "30"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->delays.kind, Delays::Kind::uniform);
  EXPECT_DOUBLE_EQ(options->delays.seconds, 0.05);
  EXPECT_DOUBLE_EQ(options->compute, 0.05) << "as long as the largest delay";
  EXPECT_EQ(options->edge, 30);
  EXPECT_EQ(parsed({"gather", "--delay", "one-late:1.5s@3"})->delays.late, 3);
  EXPECT_DOUBLE_EQ(parsed({"gather", "--compute", "200us"})->compute, 200e-6);
  EXPECT_DOUBLE_EQ(parsed({"gather"})->compute, 0);
  expect_error({"gather", "--delay", "uniform:50"}, {"--delay 'uniform:50'", "uniform:50ms"});
  expect_error({"gather", "--delay", "late"}, {"one-late:50ms@RANK"});
  expect_error({"gather", "--delay", "one-late:5ms@x"}, {"rank 'x'"});
  expect_error({"gather", "--delay", "recorded:/no/such"},
               {"cannot be read: No such file or directory"});
  expect_error({"gather", "--edge", "101"}, {"--edge '101'", "0 to 100"});
}

TEST(BenchDelays, AreTheSameForAllWhoAskAndInTheirRange) {
  const Delays uniform = *delays_from("uniform:10ms");
  double sum = 0;
  for (Rank rank = 0; rank < 50; ++rank) {
    for (std::uint64_t call = 0; call < 40; ++call) {
      const double delay = uniform.of(rank, 50, call, 1);
      EXPECT_EQ(delay, uniform.of(rank, 50, call, 1));
      EXPECT_TRUE(delay >= 0 && delay < 0.01) << delay;
      sum += delay;
    }
  }
  EXPECT_NEAR(sum / 2000, 0.005, 0.0005);
  EXPECT_NE(uniform.of(3, 50, 7, 1), uniform.of(3, 50, 7, 2));
  const Delays late = *delays_from("one-late:5ms");
  EXPECT_DOUBLE_EQ(late.of(6, 7, 0, 1), 0.005);
  EXPECT_DOUBLE_EQ(late.of(0, 7, 0, 1), 0);
}

TEST(BenchDelays, ThoseOfAFileAreForItsNumberOfRanks) {
  const std::string name = testing::TempDir() + "/delays";
  std::ofstream(name) << "# seconds\n0,0.5,0.25\n0.1,0,0\n";
  const Delays recorded = *delays_from("recorded:" + name);
  EXPECT_DOUBLE_EQ(recorded.of(1, 3, 0, 9), 0.5);
  EXPECT_DOUBLE_EQ(recorded.of(0, 3, 3, 9), 0.1) << "calls in turn";
  EXPECT_DOUBLE_EQ(recorded.scale(), 0.5);
  EXPECT_EQ(recorded.refusal(3), "");
  EXPECT_NE(recorded.refusal(4).find("3 ranks; expected 4"), std::string::npos);
  std::ofstream(name) << "0,0.5,\n0.1,0,\n";
  EXPECT_EQ(delays_from("recorded:" + name)->refusal(2), "") << "commas at the end";
  std::ofstream(name) << "0,0.5\n0.1\n";
  EXPECT_NE(delays_from("recorded:" + name).error().find("line 2 has 1 ranks"), std::string::npos);
  EXPECT_NE(delays_from("recorded:/dev/zero").error().find("is a device"), std::string::npos);
}

TEST(BenchDelays, AreReadFromWhatTuttiReportWrites) {
  // tests/python/test_report.py compares what the command writes with the same file.
  const Delays recorded =
      *delays_from(std::string("recorded:") + TUTTI_TEST_DATA + "/golden/recorded_delays.csv");
  EXPECT_EQ(recorded.refusal(4), "");
  EXPECT_EQ(recorded.recorded.size(), 3U);
  EXPECT_DOUBLE_EQ(recorded.of(2, 4, 1, 1), 0.041);
  EXPECT_DOUBLE_EQ(recorded.of(3, 4, 1, 1), 0);
}

TEST(BenchOptions, RootsBecomeRanks) {
  EXPECT_EQ(*rank_of({RootChoice::Kind::half, 0}, 11), 5);
  EXPECT_EQ(*rank_of({RootChoice::Kind::first, 0}, 11), 0);
  EXPECT_EQ(*rank_of({RootChoice::Kind::last, 0}, 11), 10);
  EXPECT_EQ(*rank_of(parsed({"gather", "--root", "7"})->root, 8), 7);
  EXPECT_EQ(rank_of(parsed({"gather", "--root", "8"})->root, 8).error(),
            "--root 8: expected a rank from 0 to 7");
}

TEST(BenchOptions, ErrorsNameTheValueAndWhatIsAccepted) {
  expect_error({"gahter"}, {"'gahter'", "did you mean gather?", "gather, gatherv"});
  expect_error({"gatherv", "--blocks", "1"}, {"'--blocks'", "did you mean --block?", "--block, "});
  expect_error({"gatherv", "-q"}, {"'-q'", "--quiet"});
  expect_error({"gatherv", "--block"}, {"--block needs a value"});
  expect_error({"allgather_shared", "--algorithm", "ring"}, {"'--algorithm'", "--bytes, "});
  expect_error({"gatherv", "--quiet=yes"}, {"takes no value"});
  expect_error({"gatherv", "--block", "1,,2"}, {"--block '1,,2'", "at least 1"});
  expect_error({"gatherv", "--block", "0"}, {"--block '0'"});
  expect_error({"gatherv", "--bytes", "8X"}, {"--bytes '8X'", "64K"});
  expect_error({"gatherv", "--bytes", "9223372036854775807K"}, {"--bytes"});
  expect_error({"gatherv", "--distribution", "spiky"},
               {"'spiky'", "two-blocks", "did you mean spikes?"});
  expect_error({"gatherv", "--root", "middle"}, {"'middle'", "half, first, last or a rank"});
  expect_error({"gatherv", "--root", "-1"}, {"'-1'"});
  expect_error({"gatherv", "--rho", "0"}, {"--rho '0'", "at least 1"});
  expect_error({"gatherv", "--gap", "-1"}, {"--gap '-1'", "at least 0"});
  expect_error({"gatherv", "--repetitions", "many"}, {"'many'"});
  expect_error({"gatherv", "--warmup", "-1"}, {"--warmup '-1'"});
  expect_error({"gatherv", "--seed", "x"}, {"--seed 'x'"});
  expect_error({"gatherv", "--timeout", "0"}, {"--timeout '0'"});
  expect_error({"gatherv", "--json", ""}, {"--json ''", "a file name"});
  expect_error({"gatherv", "--algorithm", ""}, {"native, auto"});
  expect_error({"gatherv", "--block", "1", "--bytes", "8"}, {"--block", "--bytes", "exclude"});
  expect_error({"gather", "--distribution", "spikes"},
               {"gather has no option '--distribution'", "--block, "});
  expect_error({"machine", "--json", "x"}, {"machine has no option '--json'", "--output"});
  expect_error({}, {"no command"});
}

TEST(BenchOptions, EveryCollectiveIsACommand) {
  for (const Collective collective : all_collectives) {
    const std::string name(tutti::name_of(collective));
    const auto options = parsed({name.c_str()});
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(collective_of(options->command), collective);
    EXPECT_EQ(name_of(options->command), name);
    EXPECT_NE(help().find(" " + name), std::string::npos) << name;
    EXPECT_EQ(bool(parsed({name.c_str(), "--root", "0"})), has_root(collective)) << name;
    EXPECT_EQ(bool(parsed({name.c_str(), "--distribution", "random"})), is_irregular(collective))
        << name;
  }
  EXPECT_FALSE(collective_of(Command::latency));
}

TEST(BenchOptions, HelpNamesEveryCommand) {
  for (const char* name : {"gatherv", "guidelines", "latency", "machine", "--distribution"}) {
    EXPECT_NE(help().find(name), std::string::npos) << name;
  }
  EXPECT_TRUE(parsed({"--help"})->help);
  const Bytes block = parsed({"memory"})->blocks.front();
  EXPECT_NE(help().find("memory: one (" + std::to_string(block) + ")"), std::string::npos);
}

}  // namespace
}  // namespace tutti::bench
