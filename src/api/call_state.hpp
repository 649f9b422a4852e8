/// What every call reads, also one that Tutti hands on to the MPI: a cache line of each thread and
/// one of the process. Where ranks share cores, the caches hold what other ranks used, and each
/// further line costs as much as all the rest.
#pragma once

#include <atomic>

#include "run/mpi/functions.hpp"

namespace tutti {

class Communicator;

inline constexpr std::size_t cache_line = 64;

struct alignas(cache_line) ThreadState {
  /// The communicator of this thread's latest call: most calls use the one of the call before.
  MPI_Comm comm{};
  Communicator* communicator = nullptr;
  unsigned generation = 0;
  int depth = 0;                    ///< collectives that this thread is inside of
  const void* call_site = nullptr;  ///< the return address of the current call, set by the front
};
inline constinit thread_local ThreadState this_thread{};

struct alignas(cache_line) ProcessState {
  /// Changes where a communicator is freed or a setting changes.
  std::atomic<unsigned> generation{1};
  std::atomic<const MpiFunctions*> next{nullptr};  ///< see next_functions()
};
inline constinit ProcessState this_process{};

}  // namespace tutti
