/// Draws timelines as SVG, and writes them as JSON.
#pragma once

#include <string>
#include <string_view>

#include "simulate/simulate.hpp"

namespace tutti {

/// A row per rank, time to the right: a grey background from arrival to exit, a bar at both ranks
/// of each transfer (upper half sends, lower half receives) and a line between them. Times of the
/// timeline are multiplied by `scale` and shown in `unit`: for seconds 1e6 and "us".
[[nodiscard]] std::string timeline_to_svg(const Timeline& timeline, std::string_view title,
                                          double scale, std::string_view unit);

/// One object: arrivals, exits, busy by rank, and transfers with from, to, bytes, start, end.
[[nodiscard]] std::string timeline_to_json(const Timeline& timeline);

}  // namespace tutti
