/// Schedules and their messages as JSON.
#pragma once

#include <span>
#include <string>

#include "schedule/schedule.hpp"

namespace tutti {

/// `text` as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// One object: collective, p, root, and for each rank its steps with the fields of the text form
/// (kind, peer, blocks [begin, end), holes, bytes, offset, runner; first and last of a wait).
[[nodiscard]] std::string to_json(std::span<const Schedule> schedules);

}  // namespace tutti
