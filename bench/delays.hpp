/// The arrival patterns that tutti-bench emulates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// The delay of each rank before a call: the extra time that it computes.
struct Delays {
  enum class Kind : std::uint8_t {
    none,
    uniform,   ///< random for each rank and call, between 0 and `seconds`
    normal,    ///< random for each rank and call, |N(0, seconds)|
    one_late,  ///< `seconds` for one rank, the same in all calls
    recorded,  ///< from a file, its calls repeated in sequence
  };
  Kind kind = Kind::none;
  std::string text = "none";  ///< as requested
  double seconds = 0;
  Rank late = no_rank;                        ///< one_late; no_rank: the last rank
  std::vector<std::vector<double>> recorded;  ///< seconds by call and rank

  /// The delay of `rank` of `p` in a call, in seconds. Each rank and call has its own seed, so the
  /// delays are equal on all machines.
  [[nodiscard]] double of(Rank rank, int p, std::uint64_t call, std::uint64_t seed) const;
  /// Why these cannot be the delays of `p` ranks, or empty.
  [[nodiscard]] std::string refusal(int p) const;
  /// The scale of the delays: `seconds`, or the largest delay of the file.
  [[nodiscard]] double scale() const;
};

/// Reads "none", "uniform:50ms", "normal:5ms", "one-late:50ms", "one-late:50ms@3" or
/// "recorded:FILE", a file with one line per call: the delays of all ranks in seconds, separated by
/// commas. Times take us, ms or s. The error has the accepted forms.
[[nodiscard]] Result<Delays> delays_from(std::string_view text);

/// A time such as "50ms", "200us" or "1.5s", in seconds. The error has the accepted forms.
[[nodiscard]] Result<double> seconds_from(std::string_view text);

}  // namespace tutti::bench
