/// Processors of this machine that processes may run on, and how much of them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace tutti {

/// Those that a process (0: the calling thread) may run on now, ascending; empty where the system
/// does not tell. What keeps it from others, a set of processors or a binding, is no matter.
[[nodiscard]] std::vector<int> processors_of(pid_t process);

/// The share of the machine that a control group has, in processors.
struct ProcessorQuota {
  double processors = 0;    ///< 0: no limit
  std::uint64_t group = 0;  ///< of the limit: equal for all processes that share it
};

/// The tightest limit on this process's control group and those around it (cpu.max, or the quota
/// and period of the first version). `root` is the folder that holds proc and sys.
[[nodiscard]] ProcessorQuota processor_quota(const std::filesystem::path& root);

/// What one rank knows of the processors that it may use. Plain data.
struct ProcessorView {
  std::array<std::uint64_t, 16> allowed{};  ///< a bit for each processor; none: not known
  ProcessorQuota quota;
};

/// That of the calling thread.
[[nodiscard]] ProcessorView own_processors(const std::filesystem::path& root = "/");

/// No more than these can ranks with this limit have together, wherever they are bound: those of
/// the machine, or of the limit. At least one.
[[nodiscard]] double reachable_processors(const ProcessorQuota& quota);

/// Ranks to each processor of a node, of whose ranks these are the views. The processors are all
/// that any of them may run on, but no more than the limits of their groups.
[[nodiscard]] double oversubscription_of(std::span<const ProcessorView> ranks);

}  // namespace tutti
