/// Reads bindings, limits and groups of processors, and network devices, from the system's files,
/// and the number of ranks from the launcher's variables.
#include "run/processors.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>

#include "core/hash.hpp"
#include "core/numbers.hpp"
#include "core/words.hpp"
#include "run/file.hpp"

namespace tutti {

namespace {

namespace fs = std::filesystem;

/// In alphabetical sequence; empty if there is no such folder.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

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

constexpr int max_processors = 1 << 16;

/// The processors of each NUMA memory that has any.
std::vector<std::vector<int>> memories(const fs::path& root) {
  std::vector<std::vector<int>> found;
  for (const fs::path& entry : entries_of(root / "devices/system/node")) {
    if (!entry.filename().string().starts_with("node")) continue;
    std::vector<int> processors = processors_in(line_of(entry / "cpulist"));
    if (!processors.empty()) found.push_back(std::move(processors));
  }
  return found;
}

/// The processors that share the third-level cache with `processor`; empty if unknown.
std::vector<int> beside(const fs::path& root, int processor) {
  const fs::path caches = root / ("devices/system/cpu/cpu" + std::to_string(processor)) / "cache";
  for (const fs::path& entry : entries_of(caches)) {
    if (line_of(entry / "level") != "3") continue;
    return processors_in(line_of(entry / "shared_cpu_list"));
  }
  return {};
}

/// The oversubscription of the job; 0 until known.
std::atomic<double> of_job{0};

/// The ranks on this node by variables of the launcher (Hydra, Open MPI); 0 if it sets none.
long launched_ranks() {
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    if (const char* ranks = std::getenv(name)) return std::max(0L, std::atol(ranks));
  }
  return 0;
}

double min_oversubscription() {
  static const double ratio =
      static_cast<double>(launched_ranks()) / reachable_processors(processor_quota("/"));
  return ratio;
}

/// In Mb/s; 0 if unknown, or if the interface is down.
long speed_of(const fs::path& interface) {
  long speed = 0;
  const bool is_known = read_number(line_of(interface / "speed"), speed);
  return is_known ? std::max(0L, speed) : 0;
}

std::string ethernet_in(const fs::path& folder) {
  bool is_any = false;
  bool is_hardware = false;
  long fastest = 0;
  for (const fs::path& interface : entries_of(folder)) {
    if (interface.filename() == "lo") continue;
    std::error_code error;
    const bool has_device = fs::exists(interface / "device", error);
    if (is_hardware && !has_device) continue;
    if (has_device && !is_hardware) fastest = 0;
    is_any = true;
    is_hardware = has_device;
    fastest = std::max(fastest, speed_of(interface));
  }
  if (!is_any) return "unknown";
  return fastest == 0 ? "ethernet" : "ethernet " + std::to_string(fastest) + " Mb/s";
}

}  // namespace

std::string host_name() {
  std::array<char, 252> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

std::vector<int> processors_of(pid_t process) {
  // Linux refuses a set that holds fewer processors than the machine might have.
  std::array<cpu_set_t, max_processors / CPU_SETSIZE> allowed{};
  std::vector<int> processors;
  if (sched_getaffinity(process, sizeof allowed, allowed.data()) != 0) return processors;
  for (int processor = 0; processor < max_processors; ++processor) {
    if (CPU_ISSET_S(processor, sizeof allowed, allowed.data())) processors.push_back(processor);
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
    // In version 1 a list such as "cpu,cpuacct".
    const bool limits = ("," + controllers + ",").find(",cpu,") != std::string::npos;
    if (!controllers.empty() && !limits) continue;
    tighten(root / "sys/fs/cgroup" / controllers, line.substr(second + 1), tightest);
  }
  return tightest;
}

RankProcessors own_processors(const fs::path& root) {
  RankProcessors own;
  std::string names;
  for (const int processor : processors_of(0)) {
    names += std::to_string(processor) + " ";
    ++own.count;
  }
  own.set = hash_of(names);
  own.quota = processor_quota(root);
  return own;
}

double reachable_processors(const ProcessorQuota& quota) {
  const auto all = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return quota.processors > 0 ? std::clamp(quota.processors, 1.0, all) : all;
}

double oversubscription_of(std::span<const RankProcessors> ranks) {
  std::map<std::uint64_t, double> sets;
  std::map<std::uint64_t, double> limits;
  bool are_known = true;
  bool are_limited = true;
  for (const RankProcessors& rank : ranks) {
    sets[rank.set] = rank.count;
    limits[rank.quota.group] = rank.quota.processors;
    are_known = are_known && rank.count > 0;
    are_limited = are_limited && rank.quota.processors > 0;
  }
  const auto sum = [](const std::map<std::uint64_t, double>& all) {
    double processors = 0;
    for (const auto& [name, each] : all) processors += each;
    return processors;
  };
  const double processors = are_known ? sum(sets) : reachable_processors({});
  return static_cast<double>(ranks.size()) /
         (are_limited ? std::min(processors, sum(limits)) : processors);
}

double known_oversubscription() {
  const double known = of_job.load(std::memory_order_relaxed);
  return known > 0 ? known : min_oversubscription();
}

void note_oversubscription(double ratio) { of_job = ratio; }

bool each_rank_has_a_core() {
  const double ratio = known_oversubscription();
  return 0 < ratio && ratio <= 1;
}

std::vector<int> processors_in(std::string_view list) {
  std::vector<int> processors;
  for (const std::string_view item : split(list)) {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const std::string_view end = dash < item.size() ? item.substr(dash + 1) : item;
    int first = 0;
    int last = 0;
    if (!read_number(item.substr(0, dash), first) || !read_number(end, last)) return {};
    if (first < 0 || last < first || last >= max_processors) return {};
    for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
  }
  std::ranges::sort(processors);
  return processors;
}

int group_of_processors(const fs::path& root, const std::vector<int>& own) {
  if (own.empty()) return -1;
  const std::vector<std::vector<int>> all = memories(root);
  if (all.size() > 1) {
    for (const std::vector<int>& memory : all) {
      if (std::ranges::includes(memory, own)) return memory.front();
    }
    return -1;
  }
  const std::vector<int> cache = beside(root, own.front());
  return !cache.empty() && std::ranges::includes(cache, own) ? cache.front() : -1;
}

std::string network_name(const std::string& emulated, const std::string& kernel) {
  if (!emulated.empty()) return "emulated " + emulated;
  const fs::path folder(kernel);
  if (const auto devices = entries_of(folder / "infiniband"); !devices.empty()) {
    const std::string device = devices.front().filename();
    const std::string rate = line_of(devices.front() / "ports" / "1" / "rate");
    const std::string name = device.substr(0, device.rfind('_'));
    return rate.empty() ? name : name + " " + rate;
  }
  if (!entries_of(folder / "cxi").empty()) return "cxi";
  return ethernet_in(folder / "net");
}

}  // namespace tutti
