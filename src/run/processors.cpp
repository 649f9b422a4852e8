/// Reads bindings and limits from the system's scheduler.
#include "run/processors.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace tutti {

namespace {

namespace fs = std::filesystem;

constexpr int bits = 64;

/// The limit of one control group, if it has one.
std::optional<double> limit_of(const fs::path& group) {
  double quota = 0;
  double period = 0;
  // Version 2 writes "max" for no limit, version 1 writes -1.
  if (!(std::ifstream(group / "cpu.max") >> quota >> period)) {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// Updates `tightest` by the limits of group `path` and its ancestors, in the hierarchy mounted at
/// `mount`.
void tighten(const fs::path& mount, const std::string& path, ProcessorQuota& tightest) {
  // The path of a group outside the name space contains "..", and cannot be read.
  const bool is_outside = path.find("..") != std::string::npos;
  fs::path inside = is_outside ? fs::path() : fs::path(path).relative_path();
  for (;; inside = inside.parent_path()) {
    const fs::path group = mount / inside;
    const std::optional<double> limit = limit_of(group);
    struct stat found {};
    if (limit && (tightest.processors == 0 || *limit < tightest.processors) &&
        stat(group.c_str(), &found) == 0) {
      tightest = {*limit, found.st_ino};
    }
    if (inside.empty()) return;
  }
}

/// Is "cpu" in a list such as "cpu,cpuacct"?
bool has_processors(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

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

ProcessorQuota processor_quota(const fs::path& root) {
  ProcessorQuota tightest;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !has_processors(controllers)) continue;
    tighten(root / "sys/fs/cgroup" / controllers, line.substr(second + 1), tightest);
  }
  return tightest;
}

ProcessorView own_processors(const fs::path& root) {
  ProcessorView view;
  for (const int processor : processors_of(0)) {
    view.allowed[static_cast<std::size_t>(processor / bits)] |= std::uint64_t{1}
                                                                << (processor % bits);
  }
  view.quota = processor_quota(root);
  return view;
}

double reachable_processors(const ProcessorQuota& quota) {
  const auto all = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return quota.processors > 0 ? std::clamp(quota.processors, 1.0, all) : all;
}

double oversubscription_of(std::span<const ProcessorView> ranks) {
  ProcessorView together;
  std::map<std::uint64_t, double> limits;
  bool are_known = true;
  bool are_limited = true;
  for (const ProcessorView& rank : ranks) {
    for (std::size_t i = 0; i < rank.allowed.size(); ++i) together.allowed[i] |= rank.allowed[i];
    are_known = are_known && rank.allowed != ProcessorView().allowed;
    are_limited = are_limited && rank.quota.processors > 0;
    limits[rank.quota.group] = rank.quota.processors;
  }
  double processors = are_known ? 0 : reachable_processors({});
  for (const std::uint64_t word : together.allowed) {
    if (are_known) processors += std::popcount(word);
  }
  double limit = 0;
  for (const auto& [group, quota] : limits) limit += quota;
  if (are_limited) processors = std::min(processors, limit);
  return static_cast<double>(ranks.size()) / processors;
}

}  // namespace tutti
