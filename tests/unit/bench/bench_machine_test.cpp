/// Measurements that make no machine are refused, with what speaks against them.
#include <gtest/gtest.h>

#include "bench/machine_samples.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {
namespace {

/// As a quiet machine gives them; every tenth repetition is disturbed.
std::vector<double> around(double seconds) {
  std::vector<double> samples(20, seconds);
  samples[3] = samples[13] = 100 * seconds;
  return samples;
}

MachineSamples quiet() {
  return {around(2e-6), around(2.2e-5), around(2.1e-4), around(4e-7), around(8e-7), around(2.1e-6)};
}

std::string error_of(const MachineSamples& samples) {
  const Result<Machine> machine = machine_from(samples);
  return machine ? "" : machine.error();
}

TEST(MachineSamples, GiveTheirMedians) {
  const Result<Machine> machine = machine_from(quiet());
  ASSERT_TRUE(machine) << machine.error();
  EXPECT_DOUBLE_EQ(machine->latency, 2e-6);
  EXPECT_DOUBLE_EQ(machine->per_byte, (2.1e-4 - 2e-6) / (1 << 20));
  EXPECT_DOUBLE_EQ(machine->overhead, 4e-7);
  EXPECT_DOUBLE_EQ(machine->gap, 8e-7);
}

TEST(MachineSamples, TakeLongerForMoreBytes) {
  MachineSamples samples = quiet();
  samples.empty = around(0.012);  // the turns of a scheduler
  samples.middle = around(0.011);
  samples.large = around(0.012);
  EXPECT_EQ(error_of(samples),
            "contradictory times: 0 bytes take 1.2e+04 us, 64 KiB 1.1e+04 us and 1 MiB 1.2e+04 us");
  samples = quiet();
  samples.large = samples.middle;
  EXPECT_EQ(error_of(samples),
            "contradictory times: 0 bytes take 2 us, 64 KiB 22 us and 1 MiB 22 us");
}

TEST(MachineSamples, AreNearToOneAnother) {
  MachineSamples samples = quiet();
  for (std::size_t i = 0; i < 12; ++i) samples.empty[i] = 0.012;
  EXPECT_EQ(error_of(samples),
            "unsteady times of an empty message: median 1.2e+04 us, 10 % quantile 2 us");
}

TEST(MachineSamples, DoNotChangeMeanwhile) {
  MachineSamples samples = quiet();
  samples.empty_again = around(1.1e-5);
  EXPECT_EQ(error_of(samples), "drifting times: empty messages take 2 us first and 11 us last");
}

TEST(MachineSamples, HaveNoPartLongerThanTheWhole) {
  MachineSamples samples = quiet();
  samples.overhead = around(5e-5);
  EXPECT_EQ(error_of(samples),
            "the overhead of a message takes 50 us, but an empty message takes 2 us");
  samples = quiet();
  samples.gap = around(5e-5);
  EXPECT_EQ(error_of(samples),
            "the gap between messages takes 50 us, but an empty message takes 2 us");
}

TEST(MachineSamples, AreOfAMachine) {
  MachineSamples samples = quiet();
  samples.large = around(2.3e-5);
  samples.empty = samples.empty_again = around(2.19e-5);
  samples.large = around(2.2001e-5);
  EXPECT_EQ(error_of(samples).substr(0, 9), "per_byte ");
}

TEST(MachineSamples, PassThroughTheMemoryOfANode) {
  const auto contradiction = [](double latency, double per_byte) {
    Machine machine = {latency, per_byte};
    machine.copy_per_byte = 5e-11;
    return contradiction_in_memory(machine);
  };
  EXPECT_EQ(contradiction(2e-6, 2e-10), "");
  // Two ranks on a core that others use, steadily.
  const std::string slow = contradiction(4e-3, 8.7525e-8);
  for (const char* part : {"one node", "4000 us", "1750 copies"}) {
    EXPECT_NE(slow.find(part), std::string::npos) << slow;
  }
  EXPECT_NE(contradiction(2e-6, 8.7525e-8), "");
}

}  // namespace
}  // namespace tutti::bench
