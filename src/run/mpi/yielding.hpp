/// Messages of bytes whose ranks wait without keeping their core.
#pragma once

#include <chrono>
#include <cstddef>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

// Each tests, and yields or sleeps between tests: the MPI's own wait may never release a core that
// another rank needs, and takes 20 times as long where ranks outnumber cores. Each returns an MPI
// error code.

int wait_yielding(MPI_Request& request, std::chrono::microseconds sleep = {});
int send_yielding(const void* data, std::size_t bytes, Rank to, int tag, MPI_Comm comm);
int receive_yielding(void* data, std::size_t bytes, Rank from, int tag, MPI_Comm comm,
                     std::chrono::microseconds sleep = {});

}  // namespace tutti
