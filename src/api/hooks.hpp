/// The interface through which the drop-in front informs the library.
#pragma once

#include <cstdint>
#include <span>

#include "api/call_state.hpp"

namespace tutti {

/// The functions that stand in for the MPI's own: those of the next tool in line where the front
/// has set them, else the MPI's PMPI_ functions.
[[nodiscard]] MpiFunctions& next_functions();

/// Has the records of communicators of late in the front's table from now on, which lives as long
/// as the process: then the front hands on calls itself.
void set_recent(tutti_recent* recent);

/// Notes the front's counters of MPI calls that Tutti passes on. They live as long as the process.
struct CallCounter {
  const char* function;
  std::uint64_t calls;  ///< other threads may change it, atomically
};
void set_counters(std::span<const CallCounter> counters);

/// Calls MPI_Finalize of the next tool in line or the MPI, after Tutti's own clean-up.
int finalize_mpi();

/// The same for MPI_Win_free.
int free_window(MPI_Win* window);

/// Call MPI_Comm_free and MPI_Comm_disconnect of the next tool in line or the MPI. Meanwhile Tutti
/// takes no part in calls that delete functions of attributes make on that communicator.
int free_comm(MPI_Comm* comm);
int disconnect_comm(MPI_Comm* comm);

}  // namespace tutti
