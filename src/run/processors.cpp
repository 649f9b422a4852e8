/// Asking the system's scheduler.
#include "run/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace tutti {

std::vector<int> processors_of(pid_t process) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> processors;
  if (sched_getaffinity(process, sizeof allowed, &allowed) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) processors.push_back(processor);
  }
  return processors;
}

int processors_of_launch() {
  const std::vector<int> own = processors_of(0);
  if (own.empty()) return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const std::vector<int> launcher = processors_of(getppid());
  std::vector<int> both;
  std::set_union(own.begin(), own.end(), launcher.begin(), launcher.end(),
                 std::back_inserter(both));
  return static_cast<int>(both.size());
}

}  // namespace tutti
