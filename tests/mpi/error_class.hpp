/// The classes of error codes.
#pragma once

#include <mpi.h>

namespace tutti::test {

/// The class of an error code; MPI_SUCCESS for success.
[[nodiscard]] inline int class_of(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &found);
  return found;
}

}  // namespace tutti::test
