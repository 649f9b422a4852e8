/// Messages over a private communicator of the program's MPI.
#pragma once

#include <vector>

#include "run/mpi_functions.hpp"
#include "run/transport.hpp"

namespace tutti {

/// A datatype handle as a region carries it; 0, which no valid handle is, stands for bytes.
[[nodiscard]] std::uint64_t region_type(MPI_Datatype type);

class MpiTransport final : public Transport {
 public:
  /// `comm` must return its errors and must not be used for anything else.
  explicit MpiTransport(MPI_Comm comm, Rank rank) : comm_(comm), rank_(rank) {}

  int begin(int slot, const Transfer& transfer) override;
  int poll(std::vector<int>& completed) override;
  int copy(const Region& from, const Region& to) override;
  void idle() override;
  void abandon() override;

 private:
  MPI_Comm comm_;
  Rank rank_;
  std::vector<MPI_Request> requests_;  ///< of open messages
  std::vector<int> slots_;             ///< in step with requests_
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace tutti
