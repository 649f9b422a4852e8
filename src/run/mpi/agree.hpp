/// Agreement of all ranks of a communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/max_and_sum.hpp"
#include "core/types.hpp"
#include "run/mpi/functions.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

// All are collective and return an MPI error code.

/// Sets `all` to whether `mine` is true on every rank.
int true_on_all(MPI_Comm comm, bool mine, bool& all);
/// `error` of this rank; without one an error if another rank has one.
[[nodiscard]] int agreed_error(MPI_Comm comm, int error);
/// Sets `sum` to the sum of `mine` over the ranks.
int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum);
/// Sets `max` to the maximum of `mine` over the ranks.
int max_on_all(MPI_Comm comm, Bytes mine, Bytes& max);

/// The largest `max` and the sum of `sum` over the ranks, for each of some numbers. One nonblocking
/// reduction, which other calls on the communicator may overtake and drive.
class Combination {
 public:
  Combination() = default;
  /// Ends what is pending.
  ~Combination();
  Combination(Combination&&) = default;
  Combination& operator=(Combination&&) = delete;

  /// Begins, with this rank's numbers: as many on all ranks. Nothing may be pending.
  int begin(MPI_Comm comm, std::vector<MaxAndSum> mine);
  [[nodiscard]] bool is_pending() const { return pending_ != nullptr; }
  /// Waits for the ranks that have not begun. Something must be pending.
  int end(std::vector<MaxAndSum>& combined);

 private:
  struct Pending {
    std::vector<MaxAndSum> mine;
    std::vector<MaxAndSum> combined;
    IndexedType type;  ///< of MaxAndSum
    MPI_Op operation{};
    MPI_Request request{};
  };
  std::unique_ptr<Pending> pending_;
};

}  // namespace tutti
