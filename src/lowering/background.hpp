/// Moves the steps that need not wait for their rank's arrival to the background thread.
#pragma once

#include "schedule/schedule.hpp"

namespace tutti {

/// Marks steps for the background thread (Proficz 2020, section 4):
///  - scatter, below the root: all steps. Leaves of the linear shapes receive
///    early (BSLN), inner ranks of a binomial tree also forward early (BSBN);
///  - gather, at the root: all steps, signals included (BSLS); its own block needs no message;
///  - gather, below the root: the receives of blocks (BSBN). Its sends include its own block, which
///    is valid only after the rank's arrival, as is its reply to the root's signal (LS).
/// The root of a scatter has no data before it arrives. In the other collectives
///  - bcast, below the root: all steps except the request;
///  - allgather, alltoall: receives, and the sends of blocks that the rank at `position` does not
///    contribute (BDR, BSLB: Proficz 2021); the signals of the first position, which gathers;
///  - reductions: receives into staging memory. Combined values hold the rank's own contribution.
[[nodiscard]] Schedule in_background(Schedule schedule, Position position);

}  // namespace tutti
