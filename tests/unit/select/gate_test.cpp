/// Arrivals are used only where the model, and what was measured, say that it pays.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "select/selection.hpp"

namespace tutti {
namespace {

// Blocks of 1 MiB take 0.2 ms each on the default machine.
Features expecting(Collective collective, std::vector<double> arrivals, bool background = false) {
  Features features{collective, static_cast<int>(arrivals.size()), Bytes{1} << 20};
  features.forecast = Forecast{std::move(arrivals), 0,
                               background ? ProgressCapability::runs : ProgressCapability::none};
  return features;
}

double modelled(const Choice& choice, std::string_view name) {
  return std::find_if(choice.candidates.begin(), choice.candidates.end(),
                      [&](const Candidate& c) { return c.name == name; })
      ->seconds;
}

TEST(Gate, IsClosedWhereRanksArriveTogether) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const Features together = expecting(collective, std::vector<double>(8, 3), true);
    EXPECT_FALSE(choose({}, together, {}).specification);
    Features without = together;
    without.forecast.reset();
    EXPECT_EQ(choose({}, together, {}).reason, choose({}, without, {}).reason);
    // A microsecond is less than a start-up; 2 ms less than twice the error.
    Features close = expecting(collective, {0, 0, 0, 0, 1e-6, 0, 0, 0});
    EXPECT_EQ(choose({}, close, {}).reason, choose({}, without, {}).reason);
    close.forecast = Forecast{{0, 0, 0, 0, 2e-3, 0, 0, 0}, 1e-3, ProgressCapability::runs};
    EXPECT_EQ(choose({}, close, {}).reason, choose({}, without, {}).reason);
  }
}

TEST(Gate, OpensForOneLateRankWithMuchData) {
  // Rank 4 heads half of a binomial tree and stands before three others in a sequence.
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const Choice choice = choose({}, expecting(collective, {0, 0, 0, 0, 2e-3, 0, 0, 0}), {});
    ASSERT_TRUE(choice.specification) << choice.reason;
    EXPECT_EQ(to_text(*choice.specification), "linear");
    EXPECT_NE(choice.reason.find("with late ranks"), std::string::npos);
    Features small = expecting(collective, {0, 0, 0, 0, 2e-3, 0, 0, 0});
    small.block = 8;
    EXPECT_FALSE(choose({}, small, {}).specification);
  }
}

TEST(Gate, SendsManyLateRanksToRelays) {
  // A binomial tree by arrival relays to its leaves, half of the ranks; with four early ranks its
  // first one serves 15 late ones, where relays have 11 each.
  std::vector<double> arrivals(48, 0);
  std::fill(arrivals.begin() + 24, arrivals.end(), 20e-3);
  const Choice half = choose({}, expecting(Collective::scatter, arrivals), {});
  ASSERT_TRUE(half.specification);
  EXPECT_EQ(to_text(*half.specification), "binomial:order=arrival");
  std::fill(arrivals.begin() + 4, arrivals.end(), 20e-3);
  const Choice relayed = choose({}, expecting(Collective::scatter, arrivals), {});
  ASSERT_TRUE(relayed.specification);
  EXPECT_EQ(to_text(*relayed.specification), "relay:late=44");
  // With threads the data is there before the ranks are.
  const Choice hidden = choose({}, expecting(Collective::scatter, arrivals, true), {});
  ASSERT_TRUE(hidden.specification);
  EXPECT_EQ(hidden.specification->runner, Runner::background);
}

TEST(Gate, LetsTheThreadOfALateRootGather) {
  std::vector<double> arrivals(16, 0);
  arrivals[3] = 5e-3;
  Features features = expecting(Collective::gather, arrivals, true);
  features.root = 3;
  const Choice choice = choose({}, features, {});
  ASSERT_TRUE(choice.specification);
  EXPECT_EQ(choice.specification->runner, Runner::background);
  // Without it all must wait for the root, and no point gains.
  features.forecast->progress_capability = ProgressCapability::none;
  EXPECT_FALSE(choose({}, features, {}).specification);
}

TEST(Gate, ChargesWhatReliesOnTheForecastForItsError) {
  std::vector<double> half(48, 0);
  std::fill(half.begin() + 24, half.end(), 20e-3);
  Features features = expecting(Collective::scatter, half);
  features.forecast->error = 5e-3;
  const Choice choice = choose({}, features, {});
  features.forecast->error = 0;
  const Choice exact = choose({}, features, {});
  EXPECT_DOUBLE_EQ(modelled(choice, "relay:late=24"), modelled(exact, "relay:late=24") + 10e-3);
  EXPECT_DOUBLE_EQ(modelled(choice, "linear"), modelled(exact, "linear"));
}

std::vector<std::string> natives_of(MpiFamily family, Collective collective, int p, Bytes block) {
  const std::vector<std::string> all = native_specifications(family, collective, p, block);
  for (const std::string& text : all) EXPECT_TRUE(specification(collective, text)) << text;
  return all;
}

TEST(NativeModel, FollowsTheRulesOfTheLibrary) {
  using enum Collective;
  using List = std::vector<std::string>;
  EXPECT_EQ(mpi_family("Open MPI v4.1.4, package: ..."), MpiFamily::open_mpi);
  EXPECT_EQ(mpi_family("MPICH Version:      4.0.2\n"), MpiFamily::mpich);
  EXPECT_EQ(mpi_family("Intel(R) MPI Library 2021.18"), MpiFamily::unknown);
  constexpr auto open_mpi = MpiFamily::open_mpi;
  EXPECT_EQ(natives_of(open_mpi, gather, 48, 174762), List{"binomial:order=rotated"});
  EXPECT_EQ(natives_of(open_mpi, gather, 48, 1024),
            List{"binomial:order=rotated,runner=background"})
      << "32 KiB go unasked";
  EXPECT_EQ(natives_of(open_mpi, gather, 7, 262144),
            List{"linear_sync:order=natural,segment=262144"});
  EXPECT_EQ(natives_of(open_mpi, gather, 7, 131072), List{"linear_sequence:order=natural"});
  EXPECT_EQ(natives_of(open_mpi, gather, 300, 4096),
            List{"linear:order=natural,runner=background"});
  EXPECT_EQ(natives_of(open_mpi, scatter, 48, 174762), List{"linear:order=natural"});
  EXPECT_EQ(natives_of(open_mpi, scatter, 48, 10922), List{"binomial:order=rotated"});
  EXPECT_EQ(natives_of(open_mpi, scatter, 7, Bytes{1} << 20),
            List{"linear_sequence:order=natural"});
  EXPECT_EQ(natives_of(MpiFamily::mpich, scatter, 48, 174762), List{"binomial:order=rotated"});
  EXPECT_EQ(natives_of(MpiFamily::unknown, gather, 48, 174762),
            (List{"linear_sequence:order=natural", "binomial:order=rotated"}));
  EXPECT_EQ(natives_of(open_mpi, gatherv, 48, 174762), List{"linear_sequence:order=natural"});
}

// The lab: 48 ranks of a link each, and delays as those of docs/results/arrival-lab.md. `native` is
// what the MPI's own has taken there after the last arrival, in seconds.
constexpr Machine hundred_mbit = {210e-6, 82.3e-9, 39.5e-6, 1.44e-6};
constexpr Machine gbit = {200e-6, 8.5e-9, 39.5e-6, 1.44e-6};
constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

Choice in_the_lab(Collective collective, Bytes kilofloats, double delay,
                  double native = not_measured, const Machine& machine = hundred_mbit) {
  Features features{collective, 48, 4096 * kilofloats / 48};
  features.mpi = MpiFamily::open_mpi;
  std::vector<double> arrivals(48);
  for (std::size_t rank = 0; rank < 48; ++rank) {
    arrivals[rank] = delay * static_cast<double>((rank * 29 + 20) % 48) / 47;
  }
  features.forecast = Forecast{std::move(arrivals), 1e-3, ProgressCapability::runs, native};
  return choose({}, features, machine);
}

TEST(NativeModel, OpensTheGateForOpenMpisGatherInTheLab) {
  // Its binomial tree waits for whoever heads a subtree; threads serve whoever has come.
  for (const double delay : {50e-3, 100e-3, 500e-3}) {
    EXPECT_TRUE(in_the_lab(Collective::gather, 128, delay).specification) << delay;
  }
  for (const double delay : {100e-3, 500e-3, 1.0}) {
    EXPECT_TRUE(in_the_lab(Collective::gather, 2048, delay).specification) << delay;
  }
  // The root of its scatter has all large blocks in flight, which is the bound.
  for (const double delay : {10e-3, 100e-3, 500e-3}) {
    EXPECT_FALSE(in_the_lab(Collective::scatter, 2048, delay).specification) << delay;
  }
}

/// What one cell of the lab took with the MPI's own and with threads that serve whoever has come:
/// medians of docs/results/arrival-lab.md, and how far apart its ranks came. Seconds.
struct Cell {
  Bytes kilofloats;
  double spread;
  double native;
  double pull;
};

constexpr Cell gather_cells[] = {
    {128, 7e-3, 57e-3, 44e-3},      {1024, 9e-3, 420e-3, 352e-3},
    {2048, 29e-3, 824e-3, 702e-3},  {128, 29e-3, 74e-3, 43e-3},
    {2048, 45e-3, 777e-3, 689e-3},  {128, 52e-3, 104e-3, 53e-3},
    {2048, 57e-3, 846e-3, 699e-3},  {128, 99e-3, 140e-3, 100e-3},
    {2048, 99e-3, 839e-3, 688e-3},  {128, 467e-3, 514e-3, 478e-3},
    {1024, 469e-3, 823e-3, 497e-3}, {2048, 469e-3, 1195e-3, 718e-3},
    {128, 945e-3, 1002e-3, 951e-3}, {2048, 945e-3, 1657e-3, 987e-3},
};

TEST(Gate, TakesGathersInTheLabToThreadsThatServeWhoeverHasCome) {
  const std::string pull = "linear_pull:flight=4,runner=background";
  for (const Cell& cell : gather_cells) {
    const double native = cell.native - cell.spread;
    const Choice choice = in_the_lab(Collective::gather, cell.kilofloats, cell.spread, native);
    ASSERT_TRUE(choice.specification) << choice.reason;
    EXPECT_EQ(*choice.specification, *specification(Collective::gather, pull)) << choice.reason;
    EXPECT_NEAR(modelled(choice, pull), cell.pull, 0.09 * cell.pull)
        << cell.kilofloats << " Ki floats, ranks " << cell.spread << " s apart";
  }
}

TEST(Gate, ChargesOneLatencyForAllSignals) {
  // Native took 22 ms with 128 Ki floats at 1 Gbit/s, threads that serve whoever comes 12 to 13:
  // 93 us of wire for each block, where a signal and a block of their own would take 493 us.
  for (const double delay : {0., 1e-3, 5e-3}) {
    const Choice choice = in_the_lab(Collective::gather, 128, delay, 22e-3, gbit);
    ASSERT_TRUE(choice.specification) << choice.reason;
    EXPECT_EQ(choice.specification->runner, Runner::background);
    EXPECT_LT(modelled(choice, "linear_pull:flight=4,runner=background"), 13e-3 + delay);
  }
}

TEST(Gate, PrefersWhatNoCrowdHarmsToWhatIsModelledALittleFaster) {
  // 128 Ki floats at 1 Gbit/s with ranks that come together: `linear` would gain a tenth by the
  // model, serving whoever has come did so in the lab.
  const Machine lab = {112e-6, 9.36e-9, 7.87e-6, 5.41e-6};
  const double native = 6e-3;
  const Choice choice = in_the_lab(Collective::gather, 128, 0, native, lab);
  ASSERT_TRUE(choice.specification) << choice.reason;
  EXPECT_LT(1.1 * modelled(choice, "linear"), native);
  EXPECT_GT(1.1 * modelled(choice, "linear_pull:flight=4,runner=background"), native);
  EXPECT_EQ(*choice.specification,
            *specification(Collective::gather, "linear_pull:flight=4,runner=background"));
}

TEST(Gate, LeavesScattersInTheLabToAnMpiThatIsAtTheBound) {
  // Open MPI took 1.01 to 1.02 times as long as any algorithm must; the root came when 20 of 47
  // had.
  for (const double spread : {15e-3, 475e-3}) {
    for (const Bytes kilofloats : {1024, 2048}) {
      const double wire = static_cast<double>(4096 * kilofloats) * 47 / 48 * hundred_mbit.per_byte;
      const double native = 1.01 * std::max(spread, spread * 20 / 47 + wire) - spread;
      const Choice choice = in_the_lab(Collective::scatter, kilofloats, spread, native);
      EXPECT_FALSE(choice.specification) << choice.reason;
    }
  }
}

TEST(Gate, HoldsWhatWasMeasuredOfNativeAgainstTheModel) {
  // Ranks that arrive together, and an MPI that takes a fifth longer than the wire.
  const Machine machine = {210e-6, 82.3e-9, 39.5e-6, 1.44e-6};
  Features features{Collective::gather, 48, 174762};
  features.mpi = MpiFamily::open_mpi;
  features.forecast = Forecast{std::vector<double>(48, 0), 1e-3, ProgressCapability::runs};
  EXPECT_FALSE(choose({}, features, machine).specification);
  features.forecast->native = 0.83;
  const Choice better = choose({}, features, machine);
  ASSERT_TRUE(better.specification) << better.reason;
  EXPECT_NE(better.reason.find("measured"), std::string::npos);
  EXPECT_FALSE(choose({}, features, {}).specification) << "of a machine that nobody has measured";
  // What is as short as the clocks are wrong says nothing.
  features.block = 8;
  features.forecast->native = 1e-3;
  EXPECT_FALSE(choose({}, features, machine).specification);
}

TEST(Gate, IsClosedWhileNativeIsMeasuredAgain) {
  Features features{Collective::gather, 48, 174762};
  features.forecast = Forecast{std::vector<double>(48, 0), 1e-3, ProgressCapability::runs, 0.83};
  EXPECT_TRUE(choose({}, features, hundred_mbit).specification);
  features.forecast->native_is_due = true;
  const Choice choice = choose({}, features, hundred_mbit);
  EXPECT_FALSE(choice.specification);
  EXPECT_NE(choice.reason.find("measured again"), std::string::npos) << choice.reason;
}

TEST(Gate, TriesAsManyChoicesAsMayLoseAndThenNone) {
  Features features{Collective::gather, 48, 174762};
  features.mpi = MpiFamily::open_mpi;
  features.forecast = Forecast{std::vector<double>(48, 0), 1e-3, ProgressCapability::runs, 0.83};
  std::vector<Specification> tried;
  for (AlgorithmId& lost : features.forecast->lost) {
    const Choice choice = choose({}, features, hundred_mbit);
    ASSERT_TRUE(choice.specification) << choice.reason;
    for (const Specification& before : tried) EXPECT_NE(*choice.specification, before);
    tried.push_back(*choice.specification);
    lost = digest_of(tried.back());
  }
  const Choice none = choose({}, features, hundred_mbit);
  EXPECT_FALSE(none.specification);
  EXPECT_NE(none.reason.find("untried"), std::string::npos);
  // On a machine that nobody has measured the model's promises are not held against times.
  std::fill(features.forecast->arrivals.begin() + 1, features.forecast->arrivals.end(), 0.2);
  features.mpi = MpiFamily::unknown;
  const Choice other = choose({}, features, {});
  EXPECT_TRUE(other.reason.find("untried") == std::string::npos) << other.reason;
}

}  // namespace
}  // namespace tutti
