/// Every error text of the readers: it names the input and says what is accepted.
#include <gtest/gtest.h>

#include "algorithms/algorithms.hpp"
#include "cost/node_machine.hpp"
#include "schedule/schedule.hpp"
#include "select/selection.hpp"
#include "simulate/simulate.hpp"

namespace tutti {
namespace {

std::string specification_error(const char* text) {
  const auto result = specification(Collective::gatherv, text);
  return result ? "no error" : result.error();
}

const std::string known_names =
    "linear, linear_sequence, linear_sync, linear_pull, binomial, knomial, ordered_tree, LIN, LS, "
    "BNOM, SLIN, "
    "BSLN, SLS, BSLS, SBN, BSBN, A-LIN, TUW, TUW_Gatherv, TUW_Scatterv, traff, BBMH, BGMH";

TEST(SpecificationError, NamesTheAlgorithmsThereAre) {
  EXPECT_EQ(specification_error("quick"),
            "\"quick\" is no algorithm for gatherv; there are " + known_names);
  EXPECT_EQ(specification_error(""), "\"\" is no algorithm for gatherv; there are " + known_names);
  EXPECT_EQ(specification_error(":k=3"),
            "\"\" is no algorithm for gatherv; there are " + known_names);
}

TEST(SpecificationError, NamesTheSettingsOfTheAlgorithm) {
  EXPECT_EQ(specification_error("knomial:radix=4"),
            "\"radix=4\" is no setting of knomial, which takes order,k,runner (key=value)");
  EXPECT_EQ(specification_error("knomial:k"),
            "\"k\" is no setting of knomial, which takes order,k,runner (key=value)");
  EXPECT_EQ(specification_error("linear:k=4"),
            "\"k=4\" is no setting of linear, which takes order,runner (key=value)");
  EXPECT_EQ(specification_error("LS:k=4"),
            "\"k=4\" is no setting of linear_sync, which takes order,segment,runner (key=value)");
  EXPECT_EQ(specification_error("knomial:k=4,,order=natural"),
            "\"\" is no setting of knomial, which takes order,k,runner (key=value)");
  EXPECT_EQ(specification_error("linear:"),
            "\"\" is no setting of linear, which takes order,runner (key=value)");
  EXPECT_EQ(specification_error("knomial:k=4,"),
            "\"\" is no setting of knomial, which takes order,k,runner (key=value)");
  EXPECT_EQ(specification_error("LIN:"),
            "\"\" is no setting of linear_sequence, which takes order,runner (key=value)");
}

TEST(SpecificationError, SaysWhatASettingAccepts) {
  EXPECT_EQ(specification_error("linear:order=random"),
            "order=random: order is natural, rotated, by_size, arrival, late_leaf, distance, "
            "nearest_next, two_partners_each or heaviest_first");
  EXPECT_EQ(specification_error("linear:runner=thread"),
            "runner=thread: runner is caller or background");
  EXPECT_EQ(specification_error("knomial:k=1"), "k=1: k is an integer from 2 on");
  EXPECT_EQ(specification_error("knomial:k=4x"), "k=4x: k is an integer from 2 on");
  EXPECT_EQ(specification_error("knomial:k="), "k=: k is an integer from 2 on");
  EXPECT_EQ(specification_error("knomial:k=99999999999"),
            "k=99999999999: k is an integer from 2 on");
  EXPECT_EQ(specification_error("ordered_tree:ports=0"), "ports=0: ports is an integer from 1 on");
  EXPECT_EQ(specification_error("linear_pull:flight=-1"),
            "flight=-1: flight is an integer from 0 (no limit) on");
  EXPECT_EQ(specification(Collective::scatterv, "relay:late=some").error(),
            "late=some: late is an integer from 0 on");
  EXPECT_EQ(specification_error("linear_sync:segment=1Z"),
            "segment=1Z: segment is bytes such as 4K");
  EXPECT_EQ(specification_error("ordered_tree:threshold=-5"),
            "threshold=-5: threshold is bytes such as 64K, or off");
  EXPECT_EQ(specification_error("ordered_tree:rule=size"),
            "rule=size: rule is volume or gather_time");
  EXPECT_EQ(specification_error("ordered_tree:promote=yes"), "promote=yes: promote is on or off");
}

TEST(BytesError, ShowsHowBytesAreWritten) {
  for (const char* text : {"", "K", "12Q", "1.5K", "-1", "1KB", "9999999999G", "+3", " 3"}) {
    const auto bytes = bytes_from(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error(), "\"" + std::string(text) +
                                 "\" is no number of bytes; write it as 1536, 64K, 8M or 1G");
  }
}

TEST(MachineError, NamesTheLineAndWhatIsAccepted) {
  const auto error = [](const char* text) { return machine_from_text(text).error(); };
  EXPECT_EQ(error("latency 1e-6\nper_byte fast"),
            "line 2, \"per_byte fast\": per_byte is a number from 2e-12 to 1e-04");
  EXPECT_EQ(error("gap"), "line 1, \"gap\": gap is a number from 1e-10 to 0.01");
  EXPECT_EQ(error("overhead -1"),
            "line 1, \"overhead -1\": overhead is a number from 1e-10 to 0.01");
  EXPECT_EQ(error("# nothing yet\nlatency 0 # none"),
            "line 2, \"latency 0 # none\": latency is a number from 1e-09 to 0.01");
}

TEST(MachineError, RefusesWhatNoMachineIs) {
  // A busy machine was once measured so.
  EXPECT_EQ(machine_from_text("latency 0.012\nper_byte 1e-12\n").error(),
            "line 1, \"latency 0.012\": latency is a number from 1e-09 to 0.01");
  EXPECT_EQ(machine_from_text("per_byte 1e-12").error(),
            "line 1, \"per_byte 1e-12\": per_byte is a number from 2e-12 to 1e-04");
  for (const char* text : {"latency nan", "latency inf", "latency 1e999", "latency 2e-6s"}) {
    EXPECT_FALSE(machine_from_text(text)) << text;
  }
  EXPECT_FALSE(node_machine_from_text("crowding 0.5"));
  EXPECT_FALSE(node_machine_from_text("shared_per_byte 1e-15"));
}

TEST(MachineError, RefusesATextThatIsOfNoMachine) {
  for (const char* text : {"", "# a comment\n", "root:x:0:0\n", "latencies 2e-6\n"}) {
    ASSERT_FALSE(machines_from_text(text)) << text;
    EXPECT_EQ(machines_from_text(text).error(),
              "no line names a number of a machine, such as \"latency 2e-6\"");
  }
  EXPECT_TRUE(machines_from_text("gap 8e-7\n"));
  EXPECT_TRUE(machines_from_text("flag 1e-7\n"));
  EXPECT_FALSE(machines_from_text("flag 1e-7\ngap 1\n"));
  EXPECT_FALSE(machines_from_text("gap 1e-7\nflag 10\n"));
}

TEST(ScheduleError, NamesTheLineAndTheForm) {
  const auto error = [](const std::string& text) { return from_text(text).error(); };
  const std::string header = "gatherv p 4 rank 1 root 0\n";
  EXPECT_EQ(error(""),
            "an empty text is no schedule; it starts with a header such as \"gatherv p 4 rank 1 "
            "root 0\"");
  EXPECT_EQ(error("\n  \n"), error(""));
  for (const char* bad :
       {"shuffle p 4 rank 1 root 0", "gatherv p x rank 1 root 0", "gatherv p 4 rank 1",
        "gatherv p 4 rank 1 root 0 more", "bcast p 4 rank 1 root 0 parts"}) {
    EXPECT_EQ(error(bad), "line 1, \"" + std::string(bad) +
                              "\", is not a header (such as \"gatherv p 4 rank 1 root 0\")");
  }
  for (const char* bad :
       {"1 send 0 [1,2) 16", "0 shout 0 [1,2) 16", "0 send [1,2) 16", "0 send 0 1,2 16",
        "0 send 0 [1,2)", "0 send 0 [1,2) x", "0 send 0 [1;2) 16", "0 send 0 [1,2) 16 without [1",
        "0 send 0 [1,2) 16 from", "0 send 0 [1,2) 16 later", "0 wait 0", "0 wait 0-1 more"}) {
    EXPECT_EQ(error(header + bad),
              "line 2, \"" + std::string(bad) +
                  "\", is not step 0 (such as \"0 recv 2 [2,3) 16\" or \"1 wait 0-1\")");
  }
}

TEST(SettingError, AlsoOffersAutoAndNative) {
  EXPECT_EQ(setting(Collective::gatherv, "quick").error(),
            "\"quick\" is no algorithm for gatherv; there are " + known_names +
                " (or native, the MPI's own, or auto, Tutti's choice)");
}

TEST(SettingError, NamesWhatFollowsAColon) {
  for (const std::string text : {"linear:", "native:", "auto:", "linear:level=flat,"}) {
    const Result<Setting> read = setting(Collective::gatherv, text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error(), text + ": a colon and a comma are followed by key=value");
  }
}

TEST(SettingError, SaysWhatNoProgramCanDo) {
  const Setting by_distance = *setting(Collective::gatherv, "binomial:order=distance");
  EXPECT_EQ(out_of_reach(by_distance, false),
            "order=distance needs the distances between the ranks: TUTTI_DISTANCES=FILE names "
            "them, and tutti map --mpirun measures them");
  EXPECT_EQ(out_of_reach(by_distance, true), "");
  for (const char* text : {"auto", "native", "binomial", "binomial:order=arrival"}) {
    EXPECT_EQ(out_of_reach(*setting(Collective::gatherv, text), false), "");
  }
}

TEST(SimulationError, NamesWhatDoesNotFit) {
  const std::vector<Schedule> one = {{Collective::gather, 1, 0, 0, {}}};
  const Links links({1, Distances(3)}, 1, 1);
  EXPECT_EQ(simulate(one, {0, 0, 1, false, &links}).error(),
            "there are distances between 3 ranks: the schedules are of 1");
  EXPECT_EQ(simulate({}, {}).error(), "a simulation needs the schedules of all ranks, not none");
  EXPECT_EQ(simulate(one, {}, std::vector<double>{1, 2}).error(),
            "there are 2 arrivals for 1 ranks");
  EXPECT_EQ(simulate(one, {1, 1, 0, false}).error(), "a rank has at least 1 port, not 0");
  const auto lonely = from_text("gather p 2 rank 0 root 0\n0 recv 1 [1,2) 4\n");
  const std::vector<Schedule> two = {*lonely, {Collective::gather, 2, 1, 0, {}}};
  EXPECT_EQ(simulate(two, {}).error(), "rank 0, step 0: rank 1 has no send left for it");
  const auto waiting = from_text("gather p 1 rank 0 root 0\n0 wait 0-1\n");
  EXPECT_EQ(simulate(std::vector{*waiting}, {}).error(),
            "rank 0, step 0 (wait 0-1) never completes: the schedules deadlock");
}

}  // namespace
}  // namespace tutti
