/// Measures distances through the C API.
#include <cstdio>

#include "bench/mpi_commands.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

Result<bool> run_distances(const Job& job, const Options& options) {
  const double begin = MPI_Wtime();
  // The MPI returns errors, so that the benchmark can print them.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error =
      TUTTI_Distances_measure(MPI_COMM_WORLD, options.output.c_str(), options.nodes_per_switch);
  if (error == MPI_ERR_FILE) return Error{"cannot write --output " + options.output};
  if (error != MPI_SUCCESS) return Error{"MPI error code " + std::to_string(error)};
  if (job.rank() == 0 && !options.quiet) {
    std::printf("# distances between %d ranks on %d nodes in %.3g s: %s\n", job.p(),
                job.nodes().nodes, MPI_Wtime() - begin, options.output.c_str());
  }
  return true;
}

}  // namespace tutti::bench
