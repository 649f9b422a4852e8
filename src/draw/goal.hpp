/// Writes schedules for LogGOPSim in its GOAL language.
#pragma once

#include <span>
#include <string>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// One block of GOAL for each of the ranks 0..p-1: sends, receives and their requirements. A wait
/// becomes a `calc 0` that requires the steps that it names. LogGOPSim charges (s - 1) G for s
/// bytes, so a message without bytes is written as one byte. The error names a step without a
/// partner.
///
///     num_ranks 2
///
///     rank 0 {
///     l0: recv 16b from 1 tag 0
///     }
[[nodiscard]] Result<std::string> to_goal(std::span<const Schedule> schedules);

}  // namespace tutti
