/// Signals in node memory among simulated ranks: in place of run/node/signals.cpp, whose waits
/// check thousands of times before they sleep, and ask the MPI for progress in between.
#include "run/node/signals.hpp"

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include "simgrid/node_memory.h"
#include "simgrid/waiting.h"

namespace tutti {

void NodeSignal::signal_to(Count count) noexcept {
  tutti_simgrid_finish_moves();
  count_.store(count, std::memory_order_relaxed);
  tutti_simgrid_raise(this);
}

/// SimGrid moves messages without the ranks' calls.
int NodeSignal::wait(Count count, const Patience&, const WhileWaiting&) noexcept {
  tutti_simgrid_finish_moves();
  if (has_reached(count)) return 0;
  while (!has_reached(count)) tutti_simgrid_wait_for(this);
  sg_actor_sleep_for(sg_host_get_route_latency(sg_host_self(), sg_host_self()));
  return 0;
}

}  // namespace tutti
