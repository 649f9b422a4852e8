/// The command line: what it means, and each of its errors.
#include <gtest/gtest.h>

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
  const auto options =
      parsed({"gatherv", "--algorithm", "native", "--algorithm", "traff", "--distribution",
              "spikes", "--block", "1,10,100,1000,10000", "--root", "half", "--repetitions", "75",
              "--warmup=10", "--json", "out.json", "--quiet"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->command, Command::gatherv);
  EXPECT_EQ(options->algorithms, (std::vector<std::string>{"native", "traff"}));
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
}

TEST(BenchOptions, KeepsTheSettingsOfASpecificationTogether) {
  const auto options = parsed(
      {"gatherv", "--algorithm", "ordered_tree:rule=volume,threshold=64K,native,knomial:k=3"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->algorithms, (std::vector<std::string>{"ordered_tree:rule=volume,threshold=64K",
                                                           "native", "knomial:k=3"}));
}

TEST(BenchOptions, ReadsUnits) {
  EXPECT_EQ(parsed({"gather", "--bytes", "8,64K,8M,1G"})->totals,
            (std::vector<Bytes>{8, 64 << 10, 8 << 20, 1 << 30}));
}

TEST(BenchOptions, RootsBecomeRanks) {
  EXPECT_EQ(*rank_of({RootPlace::Kind::half, 0}, 11), 5);
  EXPECT_EQ(*rank_of({RootPlace::Kind::first, 0}, 11), 0);
  EXPECT_EQ(*rank_of({RootPlace::Kind::last, 0}, 11), 10);
  EXPECT_EQ(*rank_of(parsed({"gather", "--root", "7"})->root, 8), 7);
  EXPECT_EQ(rank_of(parsed({"gather", "--root", "8"})->root, 8).error(),
            "--root 8: this run has ranks 0 to 7");
}

TEST(BenchOptions, ErrorsNameTheValueAndWhatIsAccepted) {
  expect_error({"gahter"}, {"\"gahter\" is no command", "gather, gatherv"});
  expect_error({"gatherv", "--blocks", "1"}, {"\"--blocks\"", "--block, "});
  expect_error({"gatherv", "-q"}, {"\"-q\"", "--quiet"});
  expect_error({"gatherv", "--block"}, {"--block needs a value"});
  expect_error({"gatherv", "--quiet=yes"}, {"takes no value"});
  expect_error({"gatherv", "--block", "1,,2"}, {"--block \"1,,2\"", "elements from 1 on"});
  expect_error({"gatherv", "--block", "0"}, {"--block \"0\""});
  expect_error({"gatherv", "--bytes", "8X"}, {"--bytes \"8X\"", "64K"});
  expect_error({"gatherv", "--bytes", "9223372036854775807K"}, {"--bytes"});
  expect_error({"gatherv", "--distribution", "spiky"}, {"\"spiky\"", "two-blocks"});
  expect_error({"gatherv", "--root", "middle"}, {"\"middle\"", "half, first, last or a rank"});
  expect_error({"gatherv", "--root", "-1"}, {"\"-1\""});
  expect_error({"gatherv", "--rho", "0"}, {"--rho \"0\"", "from 1 on"});
  expect_error({"gatherv", "--gap", "-1"}, {"--gap \"-1\"", "from 0 on"});
  expect_error({"gatherv", "--repetitions", "many"}, {"\"many\""});
  expect_error({"gatherv", "--warmup", "-1"}, {"--warmup \"-1\""});
  expect_error({"gatherv", "--seed", "x"}, {"--seed \"x\""});
  expect_error({"gatherv", "--timeout", "0"}, {"--timeout \"0\""});
  expect_error({"gatherv", "--json", ""}, {"the name of a file"});
  expect_error({"gatherv", "--algorithm", ""}, {"native, auto"});
  expect_error({"gatherv", "--block", "1", "--bytes", "8"}, {"give one of them"});
  expect_error({"gather", "--distribution", "spikes"}, {"no option of gather"});
  expect_error({"machine", "--json", "x"}, {"no option of machine", "--output"});
  expect_error({}, {"no command"});
}

TEST(BenchOptions, HelpNamesEveryCommand) {
  for (const char* name : {"gatherv", "guidelines", "latency", "machine", "--distribution"}) {
    EXPECT_NE(help().find(name), std::string::npos) << name;
  }
  EXPECT_TRUE(parsed({"--help"})->help);
}

}  // namespace
}  // namespace tutti::bench
