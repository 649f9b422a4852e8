/// The file format of measured distances.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/distances.hpp"
#include "topology/distance_plan.hpp"

namespace tutti {

/// The distances of p ranks, for one or two sizes of messages. As JSON:
///
///     {"schema": "tutti-distances-1", "method": "ping-pong, median of 20", "unit": "us",
///      "names": ["n0", "n0", "n1"],
///      "measured": [{"bytes": 1, "matrix": [[0, 1.5, 20], [1.5, 0, 21], [20, 21, 0]]}]}
///
/// The unit is s, ms or us. Row i, column j of `matrix` is the time from rank i to rank j. If only
/// some pairs were measured, `levels` is a hierarchy and `pairs` replaces `matrix`:
///
///     "levels": [[0, 0, 1]], "measured": [{"bytes": 1, "pairs": [[0, 1, 1.5], [0, 2, 20]]}]
///
/// Method and names may be missing; other members are ignored.
struct DistanceFile {
  std::string method;                       ///< of the measurement, for people
  std::vector<std::string> names;           ///< of each rank's node; empty: unknown
  Hierarchy hierarchy;                      ///< which pairs were measured
  std::vector<MeasuredDistances> measured;  ///< one or two, fewer bytes first

  [[nodiscard]] int p() const { return hierarchy.p; }
  /// The model of messages of any size. `latency` in seconds and `per_byte` in seconds a byte scale
  /// a single measurement; they are unused if there are two.
  [[nodiscard]] Links links(double latency, double per_byte) const;
};

inline constexpr int max_distance_ranks = 16384;

/// Reads a file of at most 16,384 ranks. The error names the line or the value that is wrong.
[[nodiscard]] Result<DistanceFile> distances_from_text(std::string_view text);
/// Writes a file in microseconds, as pairs if there are levels and the pairs determine all
/// distances. Reading it back gives the same distances but for rounding in the last bit.
[[nodiscard]] std::string to_text(const DistanceFile& file);

}  // namespace tutti
