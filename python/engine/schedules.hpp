/// Python bindings of the steps of schedules.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

void bind_steps(nanobind::module_& module);

/// A step, and the earlier steps of its rank whose data it reads.
using NeededStep = std::pair<Step, std::vector<StepId>>;

/// The steps of the ranks 0..p-1, with messages in place of one-sided steps. O(steps * log steps).
/// Raises ValueError, which names a step without a partner.
[[nodiscard]] std::vector<std::vector<NeededStep>> message_steps(
    const std::vector<Schedule>& schedules);

}  // namespace tutti
