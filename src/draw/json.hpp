/// Writes schedules as JSON.
#pragma once

#include <span>
#include <string>

#include "schedule/schedule.hpp"

namespace tutti {

/// One object: collective, p, root, and for each rank its steps with the fields of the text form
/// (kind, peer, blocks [begin, end), holes, bytes, offset, runner; first and last of a wait).
[[nodiscard]] std::string to_json(std::span<const Schedule> schedules);

}  // namespace tutti
