/// Agreement by way of rank 0.
#include "run/mpi_agree.hpp"

#include <algorithm>
#include <vector>

namespace tutti {

int true_on_all(MPI_Comm comm, bool mine, bool& all) {
  int rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  const char said = mine ? 1 : 0;
  std::vector<char> heard(rank == 0 ? static_cast<std::size_t>(p) : 0);
  int error = mpi().Gather(&said, 1, mpi().byte, heard.data(), 1, mpi().byte, 0, comm);
  if (error != MPI_SUCCESS) return error;
  char together =
      std::all_of(heard.begin(), heard.end(), [](char one) { return one != 0; }) ? 1 : 0;
  error = mpi().Bcast(&together, 1, mpi().byte, 0, comm);
  all = together != 0;
  return error;
}

}  // namespace tutti
