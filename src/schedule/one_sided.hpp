/// One-sided steps in the terms of messages, for what knows no others.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// Some step of them reaches another rank's memory.
[[nodiscard]] bool has_one_sided_steps(std::span<const Schedule> schedules);

/// The same schedules, step by step, with a message for each notification, which takes along what
/// it tells of; puts, flushes and notifications without bytes take no part. What is lost are the
/// round trips of flushes, that notifications wait for nobody, and that puts start before them.
[[nodiscard]] std::vector<Schedule> as_messages(std::span<const Schedule> schedules);

}  // namespace tutti
