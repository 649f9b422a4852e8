/// Sweeps exhaustively: verifies every algorithm of the list over its whole space, and hierarchical
/// programs of every collective on every shape of nodes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/problems.hpp"
#include "core/nodes.hpp"

namespace tutti {

/// The space of a sweep, and the part of it to run. Parts share no state, so threads can run one
/// each.
struct SweepOptions {
  int max_p = 33;            ///< every p up to this, every root, all sizes
  int sampled_max_p = 1024;  ///< beyond max_p some p up to this, with one root and sizes each
  std::optional<Collective> collective;  ///< only this one
  std::string algorithm;                 ///< only this name of the list; empty: all
  int part = 0;
  int parts = 1;
};

/// A case that failed, with all data to reproduce it.
struct FailedCase {
  int p = 0;
  Bytes bytes = 0;  ///< of all blocks
  std::string text;
};

struct SweepResult {
  static constexpr std::size_t max_failures = 20;

  long cases = 0;                    ///< sets of schedules, or hierarchical calls
  long programs = 0;                 ///< sets of programs, made from these
  long failed = 0;                   ///< cases or programs
  std::vector<FailedCase> failures;  ///< the smallest, by ranks, then by bytes

  /// Counts a failed case, and keeps it if it is among the smallest.
  void refuse(FailedCase failure);
  void refuse(const Call& call, const std::string& text);
  /// Adds the result of another part.
  void add(const SweepResult& other);
};

/// Called repeatedly with the share of the part that is done, 0 to 1, and the current case.
using SweepProgress = std::function<void(double done, std::string_view at)>;

/// Verifies every collective and algorithm with every runner and variation of its parameters, for
/// every p and root, with sizes equal, zero, one huge (for few ranks all), random, and those of all
/// distributions. All orders take part but single heuristics, for which `distance` stands, and
/// fewer where an algorithm has parts. Orders by arrival use simultaneous, rising, falling and
/// random arrivals, and one late rank; orders by distance use random matrices. With these and the
/// background runner, sizes alternate. Then verifies the programs that the schedules become, for
/// all kinds of buffers if p is at most 8, else for one kind of each case; they are those that a
/// planner makes (a test compares them). Takes minutes with the default options.
[[nodiscard]] SweepResult sweep(const SweepOptions& options, const SweepProgress& progress = {});

/// The points of an algorithm's space that the sweep visits.
[[nodiscard]] std::vector<Specification> variations(const Algorithm& algorithm);

/// Verifies the programs of `collective` for every distribution of up to `max_p` ranks over nodes,
/// mapped in blocks, round-robin and shuffled, and for some shapes of up to 2 max_p + 1 ranks, some
/// with groups. Covers every root, up to 4 leaders, 8 if a node has as many ranks, 1 to 4 chunks,
/// with and without MPI_IN_PLACE and direct use of the buffers of all ranks or some, and operations
/// that commute and that do not; sizes alternate. A call must be refused exactly if an operation
/// does not commute and ranks of a node are not consecutive. Then verifies each inner call with the
/// schedules of every algorithm. Takes seconds for `max_p` 5.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, int max_p = 5);
/// The same on one shape.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, const Nodes& nodes);

}  // namespace tutti
