/// What every call of this process reads, also one that Tutti hands on to the MPI, and what the
/// preloaded library and the C API read of a communicator at each call.
#pragma once

#include <atomic>

#include "core/passing.h"
#include "core/types.hpp"
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

class Communicator;

/// A communicator's record of calls that pass. Its memory serves another communicator afterwards.
class PassingRecord : NotCopied {
 public:
  PassingRecord();
  ~PassingRecord();

  [[nodiscard]] tutti_passing& get() { return *record_; }
  /// Begins to stand for a communicator.
  void set(MPI_Comm comm, Communicator* owner);
  /// Puts it among those of late. Settings that change afterwards remove it from there.
  void remember();

 private:
  tutti_passing* record_;
};

}  // namespace tutti
