/// Rooted collectives by several roots: an order that serves them all need not suit each of them.
#include <gtest/gtest.h>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::native_seconds;
using test::Simulation;

/// What is selected after many broadcasts by 7 roots in turn, of which some have no gain from the
/// order that was learned, the last candidate.
int selected_where_lose(int roots_that_lose, unsigned seed) {
  Simulation simulation({.criterion = Criterion::last_exit, .steps = 6, .step = 3 * native_seconds},
                        {{4, {native_seconds, 1.3 * native_seconds, native_seconds}}}, seed);
  for (int call = 0; call < 20'000; ++call) {
    const bool gains = call % 7 >= roots_that_lose;
    simulation.times(4)[2] = (gains ? 0.5 : 1.2) * native_seconds;
    simulation.call(4);
  }
  EXPECT_EQ(simulation.steps_taken(), 6) << "seed " << seed;
  EXPECT_GT(simulation.runs(2), 0) << "seed " << seed;
  return simulation.tuner().known(4)->selected();
}

TEST(Tuner, SelectsAnOrderThatGainsInTheMeanOverRoots) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    EXPECT_EQ(selected_where_lose(0, seed), 2) << "seed " << seed;
    EXPECT_EQ(selected_where_lose(2, seed), 2) << "seed " << seed;
    EXPECT_EQ(selected_where_lose(6, seed), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tutti
