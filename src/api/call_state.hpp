/// What every call of this process reads, also one that Tutti hands on to the MPI.
#pragma once

#include <atomic>

#include "core/passing.h"
#include "run/mpi/functions.hpp"

namespace tutti {

inline constinit tutti_passing no_passing_calls = TUTTI_NO_PASSING;
inline constinit tutti_recent own_recent = TUTTI_RECENT(&no_passing_calls);

struct ProcessState {
  /// Changes where a communicator is freed or a setting changes.
  std::atomic<unsigned> generation{1};
  std::atomic<const MpiFunctions*> next{nullptr};  ///< see next_functions()
  std::atomic<tutti_recent*> recent{&own_recent};  ///< see set_recent()
};
inline constinit ProcessState this_process{};

}  // namespace tutti
