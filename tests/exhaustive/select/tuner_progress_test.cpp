/// What a tuner must reach whatever keeps it waiting, and what its comparisons may take.
#include <gtest/gtest.h>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::native_seconds;
using test::Simulation;

constexpr double not_selected = 1e9;

/// The calls of class 4 until a candidate is selected, at most `most`.
double calls_until_selected(Simulation& simulation, int candidate, int most) {
  for (int call = 0; call < most; ++call) {
    simulation.call(4);
    const TuningCase* known = simulation.tuner().known(4);
    if (known != nullptr && known->selected() == candidate) return call;
  }
  return not_selected;
}

TEST(Tuner, WhatWaitsForTheBudgetIsPaidHoweverLongAgreementsAre) {
  const double native = 0.05 * native_seconds;
  for (const double agreement : {0.02, 0.15, 0.3, 1.0}) {
    for (const double creation : {0.0, 1.0, 3.0}) {
      for (const double spread : {0.0, 0.01}) {
        Simulation simulation({.spread = spread,
                               .agreement = agreement * native,
                               .creation = creation * native_seconds},
                              {{4, {native, 0.5 * native}}}, 1);
        EXPECT_LE(calls_until_selected(simulation, 1, 60'000), 30'000)
            << "agreement " << agreement << " creation " << creation << " spread " << spread;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
