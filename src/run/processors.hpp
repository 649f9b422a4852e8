/// Processors of this machine that processes may run on.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tutti {

/// Those that a process (0: the calling thread) may run on now, ascending; empty where the system
/// does not tell. What keeps it from others, a set of processors or a binding, is no matter.
[[nodiscard]] std::vector<int> processors_of(pid_t process);

/// How many processors the ranks of this machine have together, at least one: those of this process
/// and of its parent. A launcher has all that its ranks may use, and binds each to its share. Where
/// a program lies between that is bound like the rank they seem fewer than they are.
[[nodiscard]] int processors_of_launch();

}  // namespace tutti
