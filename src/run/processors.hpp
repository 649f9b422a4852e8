/// What this host has: a name, the processors that processes may run on, their quota, what they
/// share, and whether ranks outnumber them; the network.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Its name; "an unknown host" if the system does not say it.
[[nodiscard]] std::string host_name();

/// The processors that a process (0: the calling thread) may run on now, ascending, whether a
/// cpuset or a binding restricts them; empty if the system does not report them.
[[nodiscard]] std::vector<int> processors_of(pid_t process);

/// The limit of a control group, in processors.
struct ProcessorQuota {
  double processors = 0;    ///< 0: no limit
  std::uint64_t group = 0;  ///< identifies the limit: equal for all processes that share it
};

/// The tightest limit on this process's control group and its ancestors (cpu.max, or quota and
/// period in version 1). `root` is the folder that holds proc and sys.
[[nodiscard]] ProcessorQuota processor_quota(const std::filesystem::path& root);

/// What one rank may use. Plain data.
struct RankProcessors {
  std::uint64_t set = 0;  ///< identifies the processors that it may run on
  double count = 0;       ///< how many these are; 0: unknown
  ProcessorQuota quota;
};

/// What the calling thread may use.
[[nodiscard]] RankProcessors own_processors(const std::filesystem::path& root = "/");

/// An upper bound on the processors that ranks with this limit have together, wherever they are
/// bound: those of the machine, or the limit. At least 1.
[[nodiscard]] double reachable_processors(const ProcessorQuota& quota);

/// Ranks per processor of a node whose ranks may use these. Counts different sets of processors as
/// disjoint, and at most the limits of their groups.
[[nodiscard]] double oversubscription_of(std::span<const RankProcessors> ranks);

/// Ranks per processor, as far as this process knows; 0: unknown. Of the job's fullest node once
/// noted, before that a lower bound for this node: the launcher's count of ranks over all
/// processors that they could use. A binding does not count, because other ranks may be bound
/// elsewhere.
[[nodiscard]] double known_oversubscription();

/// Notes that of the job's fullest node.
void note_oversubscription(double ratio);

/// Is known_oversubscription() at most 1, and known? Before it is noted this is no proof that ranks
/// are bound to different cores.
[[nodiscard]] bool each_rank_has_a_core();

/// Parses a Linux list of processors, such as "0-3,8", into ascending numbers. Empty if it is
/// malformed.
[[nodiscard]] std::vector<int> processors_in(std::string_view list);

/// A number that identifies the group of the processors `own` (ascending): the NUMA memory that
/// holds them all or, on a node with one memory, their common third-level cache. -1 if they span
/// several groups or the system gives no data. `root` is the folder of the system's files, /sys.
[[nodiscard]] int group_of_processors(const std::filesystem::path& root,
                                      const std::vector<int>& own);

/// A name that equal networks share, from what the kernel says in the folder `kernel`: the first
/// InfiniBand, RoCE or Omni-Path device and its rate, such as "mlx5 100 Gb/sec (4X EDR)"; else
/// "cxi" (Slingshot); else "ethernet" with the speed of the fastest interface, such as "ethernet
/// 1000 Mb/s". Interfaces of hardware come before virtual ones. "unknown" if there is none. Nodes
/// that TUTTI_NODE emulates, `emulated`, are a network of their own, such as "emulated 1,4,2".
[[nodiscard]] std::string network_name(const std::string& emulated,
                                       const std::string& kernel = "/sys/class");

}  // namespace tutti
