/// The functions of the C and C++ libraries by which a process waits, reads the clock and names its
/// host. Linked into every library and program of this flavour, they stand in for the system's: all
/// simulated ranks share one thread, so a rank that waits must let the simulator run the others.
#include <sched.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "run/clock.hpp"
#include "simgrid/node_memory.h"
#include "simgrid/waiting.h"

namespace {

double now() {
  tutti_simgrid_finish_moves();
  return simgrid_get_clock();
}

int sleep_for(double seconds) {
  tutti_simgrid_finish_moves();
  sg_actor_sleep_for(seconds);
  return 0;
}

}  // namespace

extern "C" {

int sched_yield() noexcept {
  tutti_simgrid_yield();
  return 0;
}

int usleep(useconds_t microseconds) { return sleep_for(1e-6 * microseconds); }

int nanosleep(const timespec* time, timespec*) { return sleep_for(tutti::seconds_of(*time)); }

/// Every clock is the simulated one.
int clock_gettime(clockid_t, timespec* time) noexcept {
  const double seconds = now();
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - static_cast<double>(time->tv_sec)) * 1e9);
  return 0;
}

int gethostname(char* name, std::size_t length) noexcept {
  std::snprintf(name, length, "%s", sg_host_self_get_name());
  return 0;
}

}  // extern "C"

namespace std {

namespace chrono {
inline namespace _V2 {
steady_clock::time_point steady_clock::now() noexcept {
  return time_point(chrono::duration_cast<duration>(chrono::duration<double>(::now())));
}
}  // namespace _V2
}  // namespace chrono

/// A simulated rank has no threads: the object looks as if it had one until it is joined.
void thread::_M_start_thread(_State_ptr, void (*)()) { _M_id = id(1); }
void thread::join() { _M_id = id(); }
void thread::detach() { _M_id = id(); }

}  // namespace std
