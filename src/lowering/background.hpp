/// Moves to the background thread what need not wait for its rank to arrive.
#pragma once

#include "schedule/schedule.hpp"

namespace tutti {

/// Marks steps to be run by the background thread (Proficz 2020, section 4):
///  - scatter, below the root: all steps. Leaves of the linear shapes receive early (BSLN), inner
///    ranks of a binomial tree forward early too (BSBN);
///  - gather, at the root: all steps, signals included (BSLS); its own block is no message;
///  - gather, below the root: the receives of blocks (BSBN). What it sends holds its own block,
///    which is there when the rank arrives, and with it goes the rank's answer to a call (LS).
/// The root of a scatter has nothing to give before it arrives. In the other collectives
///  - bcast, below the root: all steps but its request;
///  - allgather, alltoall: receives, and the sends of blocks that the rank at `position` does not
///    bring itself (BDR, BSLB: Proficz 2021); the calls of the first position, which collects;
///  - reductions: what is received aside. What is combined has the rank's own contribution in it.
[[nodiscard]] Schedule in_background(Schedule schedule, Position position);

}  // namespace tutti
