/// The buffers of one problem and the call on them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "bench/mpi_functions.hpp"
#include "bench/payload.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// One rank's side of a collective over MPI_COMM_WORLD that is called again and again with new
/// data.
class Workload {
 public:
  explicit Workload(Collective collective) : collective_(collective) {}
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] Collective collective() const { return collective_; }
  /// Writes what this rank sends in this call.
  virtual void prepare(std::uint32_t call) = 0;
  /// The call; MPI's error code.
  virtual int run(const Functions& functions) = 0;
  /// The same without data: what a library decides once for new settings, it decides here.
  virtual int prime(const Functions& functions) = 0;
  /// The same collective in its persistent form, where it has one, set up at the first call with
  /// what is in force for its collective then. Each `start` needs its `wait`.
  virtual int start() { return MPI_ERR_UNSUPPORTED_OPERATION; }
  virtual int wait() { return MPI_ERR_UNSUPPORTED_OPERATION; }
  /// The first received byte that is wrong, or byte beside the data that was written.
  [[nodiscard]] virtual std::optional<Mismatch> check(std::uint32_t call) const = 0;

 private:
  Collective collective_;
};

}  // namespace tutti::bench
