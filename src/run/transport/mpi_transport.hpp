/// Messages over a private communicator of the program's MPI.
#pragma once

#include <cstddef>
#include <vector>

#include "run/mpi/functions.hpp"
#include "run/transport/transport.hpp"

namespace tutti {

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
  /// A message that is received as bytes and unpacked on completion (see typed_receives_truncate).
  struct Detour {
    int slot;
    std::vector<std::byte> packed;
    Region region;
  };
  int test(int& count);
  int begin_detour(int slot, const Transfer& transfer);
  int complete(int slot, std::vector<int>& completed);

  MPI_Comm comm_;
  Rank rank_;
  std::vector<MPI_Request> requests_;  ///< of open messages
  std::vector<int> slots_;             ///< in step with requests_
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Detour> detours_;
  int fruitless_polls_ = 0;  ///< since something began or completed
};

/// Both take any number of elements of a valid datatype, also at MPI_BOTTOM, which a null address
/// stands for. `packed` has exactly the bytes of these elements. Return an MPI error code.
int pack(const Region& from, std::byte* packed, MPI_Comm comm);
int unpack(const std::byte* packed, const Region& to, MPI_Comm comm);

}  // namespace tutti
