/// One-sided schedules as messages, for code that handles only messages.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// The same schedules, step by step, with a message of the same blocks for each notification.
/// Puts, flushes and notifications without bytes become copies without effect. The result lacks the
/// round trips of flushes; its messages wait for receivers, and data starts with the notification.
[[nodiscard]] std::vector<Schedule> as_messages(std::span<const Schedule> schedules);

}  // namespace tutti
