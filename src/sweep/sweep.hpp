/// The exhaustive sweep: every algorithm of the list, verified over its whole space.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/problems.hpp"

namespace tutti {

/// What to sweep over, and which part of it. Parts share no state: a caller with several threads
/// gives each its own.
struct SweepOptions {
  int max_p = 33;            ///< every p up to this, every root, all sizes
  int sampled_max_p = 1024;  ///< beyond max_p some p up to this, with one root and sizes each
  std::optional<Collective> collective;  ///< only this one
  std::string algorithm;                 ///< only this name of the list; empty: all
  int part = 0;
  int parts = 1;
};

struct SweepResult {
  long cases = 0;
  std::vector<std::string> failures;  ///< the first few, each with all that reproduces it

  /// Adds what another part has found.
  void add(const SweepResult& other);
};

/// Called now and then with how much of the part is done, 0 to 1, and what it is at.
using SweepProgress = std::function<void(double done, std::string_view at)>;

/// Verifies every collective and algorithm with every order, runner and variation of its
/// parameters, for every p and root, with sizes equal, zero, one huge, random, and those of all
/// distributions. Orders by arrival are built for all ranks at once, rising, falling and random
/// arrivals, and one late rank; those by distance from random matrices. These and
/// the background runner take the sizes in turn.
/// Seconds for the default options.
[[nodiscard]] SweepResult sweep(const SweepOptions& options, const SweepProgress& progress = {});

/// The points of an algorithm's space that the sweep visits.
[[nodiscard]] std::vector<Specification> variations(const Algorithm& algorithm);

}  // namespace tutti
