/// Every error text of the readers: it names the input and says what is accepted.
#include <gtest/gtest.h>

#include "algorithms/algorithms.hpp"
#include "cost/machine.hpp"
#include "cost/simulate.hpp"
#include "schedule/schedule.hpp"
#include "select/selection.hpp"

namespace tutti {
namespace {

using Parts = std::initializer_list<std::string_view>;

/// The text has all parts: the name, the value, what is accepted.
testing::AssertionResult says(const std::string& text, Parts parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "'" << part << "' is missing in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

std::string specification_error(const char* text) {
  const auto result = specification(Collective::gatherv, text);
  return result ? "no error" : result.error();
}

/// The algorithms of the list for a gatherv, then the papers' names.
const std::string known_names = [] {
  std::string names;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == Collective::gatherv) names += std::string(algorithm.name) + ", ";
  }
  return names +
         "LIN, LS, BNOM, SLIN, BSLN, SLS, BSLS, SBN, BSBN, A-LIN, TUW, TUW_Gatherv, TUW_Scatterv, "
         "traff, BBMH, BGMH";
}();

TEST(SpecificationError, NamesTheAlgorithmsThereAre) {
  EXPECT_TRUE(says(specification_error("quick"), {"gatherv", "'quick'", known_names}));
  EXPECT_TRUE(says(specification_error(""), {"gatherv", "''", known_names}));
  EXPECT_TRUE(says(specification_error(":k=3"), {"gatherv", "''", known_names}));
}

TEST(SpecificationError, SuggestsTheNearestName) {
  EXPECT_TRUE(says(specification_error("linaer"), {"did you mean linear?", known_names}));
  EXPECT_TRUE(says(specification_error("trafff:k=3"), {"did you mean traff?"}));
  EXPECT_TRUE(says(specification_error("linear:runer=caller"), {"did you mean runner?"}));
  EXPECT_TRUE(says(specification_error("linear:order=distanc"), {"did you mean distance?"}));
  EXPECT_TRUE(says(specification_error("linear:runner=backgroud"), {"did you mean background?"}));
  EXPECT_EQ(specification_error("quick").find("did you mean"), std::string::npos);
  EXPECT_EQ(specification_error("knomial:k=two").find("did you mean"), std::string::npos);
}

TEST(SpecificationError, NamesTheParametersOfTheAlgorithm) {
  EXPECT_EQ(specification_error("knomial:radix=4"),
            "knomial has no parameter 'radix'; valid parameters: order, k, runner");
  EXPECT_TRUE(says(specification_error("knomial:k"), {"knomial", "'k'", "no value", "k=VALUE"}));
  EXPECT_TRUE(says(specification_error("linear:k=4"), {"linear has", "'k'", "order, runner"}));
  EXPECT_TRUE(
      says(specification_error("LS:k=4"), {"linear_sync", "'k'", "order, segment, runner"}));
  for (const char* text : {"knomial:k=4,,order=natural", "knomial:k=4,"}) {
    EXPECT_TRUE(says(specification_error(text), {"knomial", "''", "order, k, runner"})) << text;
  }
  EXPECT_TRUE(says(specification_error("linear:"), {"linear", "''", "order, runner"}));
  EXPECT_TRUE(says(specification_error("LIN:"), {"linear_sequence", "''", "order, runner"}));
}

TEST(SpecificationError, NamesTheOrderForAllRootsWhereThereIsNoRoot) {
  const auto refused = specification(Collective::allgather, "ring:order=cycle");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "order=cycle is for collectives with a root; use order=distance");
  EXPECT_TRUE(specification(Collective::bcast, "binomial:order=cycle"));
}

TEST(SpecificationError, SaysWhatAParameterAccepts) {
  const auto refuses = [](const std::string& text, Parts accepted,
                          Collective collective = Collective::gatherv) {
    const auto read = specification(collective, text);
    if (read) return testing::AssertionFailure() << text << " is accepted";
    const std::string item = text.substr(text.find(':') + 1);
    if (const auto named = says(read.error(), {"invalid " + item + ":"}); !named) return named;
    return says(read.error(), accepted);
  };
  EXPECT_TRUE(refuses("linear:order=random",
                      {"natural, rotated, by_size, arrival, late_leaf, distance, cycle, "
                       "nearest_next, two_partners_each or heaviest_first"}));
  EXPECT_TRUE(refuses("linear:runner=thread", {"caller or background"}));
  for (const char* text : {"knomial:k=1", "knomial:k=4x", "knomial:k=", "knomial:k=99999999999"}) {
    EXPECT_TRUE(refuses(text, {"integer", "at least 2"}));
  }
  EXPECT_TRUE(refuses("ordered_tree:ports=0", {"integer", "at least 1"}));
  EXPECT_TRUE(refuses("ordered_tree:ports=2147483647", {"2147483647", "at most 1048576"}));
  EXPECT_TRUE(refuses("linear_pull:flight=-1", {"integer", "at least 0 (no limit)"}));
  EXPECT_TRUE(refuses("relay:late=some", {"integer", "at least 0"}, Collective::scatterv));
  EXPECT_TRUE(refuses("linear_sync:segment=1Z", {"bytes", "4K"}));
  EXPECT_TRUE(refuses("ordered_tree:threshold=-5", {"bytes", "64K", "off"}));
  EXPECT_TRUE(refuses("ordered_tree:rule=size", {"volume or gather_time"}));
  EXPECT_TRUE(refuses("ordered_tree:promote=yes", {"on or off"}));
}

TEST(CollectiveError, NamesTheCollectivesThereAre) {
  EXPECT_TRUE(says(unknown_collective("quick"), {"'quick'", "gather, gatherv, scatter", "reduce"}));
  EXPECT_TRUE(says(unknown_collective("gahter"), {"'gahter'", "did you mean gather?"}));
}

TEST(BytesError, ShowsHowBytesAreWritten) {
  for (const char* text : {"", "K", "12Q", "1.5K", "-1", "1KB", "9999999999G", "+3", " 3"}) {
    const auto bytes = bytes_from(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_TRUE(says(bytes.error(), {"'" + std::string(text) + "'", "1536, 64K, 8M or 1G"}));
  }
}

TEST(MachineError, NamesTheLineAndWhatIsAccepted) {
  const auto error = [](const char* text) { return machine_from_text(text).error(); };
  EXPECT_TRUE(says(error("latency 1e-6\nper_byte fast"),
                   {"line 2", "per_byte fast", "per_byte from 2e-12 to 1e-04"}));
  EXPECT_TRUE(says(error("gap"), {"line 1", "gap from 1e-10 to 0.01"}));
  EXPECT_TRUE(says(error("overhead -1"), {"line 1", "overhead -1", "from 1e-10 to 0.01"}));
  EXPECT_TRUE(says(error("# nothing yet\nlatency 0 # none"), {"line 2", "from 1e-09 to 0.01"}));
}

TEST(MachineError, RefusesWhatNoMachineIs) {
  // A busy machine was once measured so.
  EXPECT_TRUE(says(machine_from_text("latency 0.012\nper_byte 1e-12\n").error(),
                   {"line 1", "latency 0.012", "from 1e-09 to 0.01"}));
  EXPECT_TRUE(says(machine_from_text("per_byte 1e-12").error(),
                   {"line 1", "per_byte 1e-12", "from 2e-12 to 1e-04"}));
  for (const char* text : {"latency nan", "latency inf", "latency 1e999", "latency 2e-6s"}) {
    EXPECT_FALSE(machine_from_text(text)) << text;
  }
  EXPECT_FALSE(machine_from_text("shared_per_byte 1e-15"));
}

TEST(MachineError, RefusesATextThatIsOfNoMachine) {
  for (const char* text : {"", "# a comment\n", "root:x:0:0\n", "latencies 2e-6\n"}) {
    ASSERT_FALSE(machine_from_text(text)) << text;
    EXPECT_TRUE(says(machine_from_text(text).error(), {"line", "latency 2e-6"}));
  }
  EXPECT_TRUE(machine_from_text("gap 8e-7\n"));
  EXPECT_TRUE(machine_from_text("flag 1e-7\n"));
  EXPECT_FALSE(machine_from_text("flag 1e-7\ngap 1\n"));
  EXPECT_FALSE(machine_from_text("gap 1e-7\nflag 10\n"));
}

TEST(SettingError, AlsoOffersAutoAndNative) {
  const auto error = [](const char* text) { return setting(Collective::gatherv, text).error(); };
  EXPECT_TRUE(says(error("quick"), {"gatherv", "'quick'",
                                    "ordered_tree, auto, native, hierarchical(native), LIN, LS"}));
  EXPECT_TRUE(says(error("hierarchial(native)"), {"did you mean hierarchical(native)?"}));
  EXPECT_TRUE(says(error("natve"), {"'natve'", "did you mean native?"}));
  EXPECT_EQ(error("knomial:radix=4").find("native"), std::string::npos);
  EXPECT_TRUE(says(error("native:k=3"), {"native", "'k'", "hierarchy"}));
  const auto one_sided = setting(Collective::rma_bcast, "quick");
  EXPECT_TRUE(says(one_sided.error(), {"rma_bcast", "'quick'", "paznikov", "auto"}));
  EXPECT_EQ(one_sided.error().find("native"), std::string::npos);
}

TEST(SettingError, NamesWhatFollowsAColon) {
  for (const std::string text : {"linear:", "native:", "auto:", "linear:level=flat,"}) {
    const Result<Setting> read = setting(Collective::gatherv, text);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(says(read.error(), {text, "key=value"}));
  }
}

TEST(SettingError, SaysWhatNoProgramCanDo) {
  const Setting by_distance = *setting(Collective::gatherv, "binomial:order=distance");
  Features features{Collective::gatherv};
  EXPECT_EQ(why_unfit(by_distance, features), "");
  features.has_distances = false;
  EXPECT_TRUE(
      says(why_unfit(by_distance, features), {"order=distance", "TUTTI_DISTANCES", "tutti map"}));
  for (const char* text : {"auto", "native", "binomial", "binomial:order=arrival"}) {
    EXPECT_EQ(why_unfit(*setting(Collective::gatherv, text), features), "");
  }
}

TEST(SimulationError, NamesWhatDoesNotFit) {
  const std::vector<Schedule> one = {{Collective::gather, 1, 0, 0, {}}};
  const Links links({1, Distances(3)}, 1, 1);
  EXPECT_TRUE(says(simulate(one, {}, {}, &links).error(), {"distances", "3 ranks", "of 1"}));
  EXPECT_TRUE(says(simulate({}, {}).error(), {"schedules", "all ranks"}));
  EXPECT_TRUE(
      says(simulate(one, {}, std::vector<double>{1, 2}).error(), {"2 arrivals", "1 ranks"}));
  Step step;
  step.kind = StepKind::recv;
  step.peer = 1;
  const std::vector<Schedule> two = {{Collective::gather, 2, 0, 0, {step}},
                                     {Collective::gather, 2, 1, 0, {}}};
  EXPECT_TRUE(says(simulate(two, {}).error(), {"rank 0, step 0 (recv from 1)", "no partner"}));
  step.kind = StepKind::wait;
  step.last = 1;
  const std::vector<Schedule> waits = {{Collective::gather, 1, 0, 0, {step}}};
  EXPECT_TRUE(says(simulate(waits, {}).error(), {"rank 0, step 0 (wait 0-1)", "deadlock"}));
}

}  // namespace
}  // namespace tutti
