/// What the one-sided broadcasts have in common: serving children, and the end.
#pragma once

#include <vector>

#include "schedule/builder.hpp"

namespace tutti {

/// Puts a part into the memory of all children at once, then tells each of them as soon as a flush
/// has ended its put: notifications may overtake puts. What fits into a notification travels in it
/// and needs neither put nor flush. The first of `children` is served first.
void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Position>& children);

/// The schedule, at whose end the root awaits that every rank is done; all others tell it so once
/// `awaited`, their last await, has completed. They do all in the background: their programs do not
/// call.
[[nodiscard]] Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem,
                                         StepId awaited);

}  // namespace tutti
