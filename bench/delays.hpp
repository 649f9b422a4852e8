/// Arrival patterns that a benchmark brings about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// How much longer than the others each rank computes before a call.
struct Delays {
  enum class Kind : std::uint8_t {
    none,
    uniform,   ///< of each rank and call anew, between 0 and `seconds`
    normal,    ///< |N(0, seconds)| of each rank and call anew
    one_late,  ///< `seconds` of one rank, the same in all calls
    recorded,  ///< of a file, its calls in turn
  };
  Kind kind = Kind::none;
  std::string text = "none";  ///< what was asked for
  double seconds = 0;
  Rank late = no_rank;                        ///< one_late; no_rank: the last rank
  std::vector<std::vector<double>> recorded;  ///< seconds by call and rank

  /// Seconds by which `rank` of `p` is late in a call. The same on all machines: of a seed of its
  /// own for each rank and call.
  [[nodiscard]] double of(Rank rank, int p, std::uint64_t call, std::uint64_t seed) const;
  /// Why these cannot be the delays of `p` ranks, or empty.
  [[nodiscard]] std::string refusal(int p) const;
  /// The largest that is to be expected: `seconds`, or the largest of the file.
  [[nodiscard]] double scale() const;
};

/// Reads "none", "uniform:50ms", "normal:5ms", "one-late:50ms", "one-late:50ms@3" or
/// "recorded:FILE", a file of one line a call with the delays of each rank in seconds, split by
/// commas. Times take us, ms or s. The error says what is accepted.
[[nodiscard]] Result<Delays> delays_from(std::string_view text);

/// A time such as "50ms", "200us" or "1.5s", in seconds. The error says what is accepted.
[[nodiscard]] Result<double> seconds_from(std::string_view text);

}  // namespace tutti::bench
