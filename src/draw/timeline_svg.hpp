/// Timelines as pictures and data.
#pragma once

#include <string>
#include <string_view>

#include "simulate/simulate.hpp"

namespace tutti {

/// A row for each rank, time to the right: a grey ground from arrival to exit, a bar at both ends
/// of each transfer (upper half sends, lower half receives) and a line between them. `unit` names
/// the time's unit, of which a timeline's number is worth `scale`: for seconds, 1e6 and "us".
[[nodiscard]] std::string timeline_to_svg(const Timeline& timeline, std::string_view title,
                                          double scale, std::string_view unit);

/// One object: arrivals, exits, busy by rank, and transfers with from, to, bytes, start, end.
[[nodiscard]] std::string timeline_to_json(const Timeline& timeline);

}  // namespace tutti
