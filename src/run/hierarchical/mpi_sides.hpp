/// Describes the buffers of a program as packed blocks with addresses.
#pragma once

#include <string>

#include "run/call/mpi_buffers.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"

namespace tutti {

/// Describes a call, whose datatypes are known, as a hierarchical call. If `is_dummy`, reads only
/// its collective and root. Sets `refused` to the reason if all ranks must run it flat: reductions
/// of derived types whose elements reach beyond their extents. Returns an MPI error code.
int describe(const MpiCall& call, Rank rank, int p, bool is_dummy, HostCopies& copies,
             HierarchicalCall& hierarchical, std::string& refused);

}  // namespace tutti
