/// The interface of a workload: the buffers of a problem, and the call on them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "bench/mpi_functions.hpp"
#include "bench/payload.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// One rank's side of a collective that is called repeatedly, with new data in each call.
class Workload : NotCopied {
 public:
  explicit Workload(Collective collective) : collective_(collective) {}
  virtual ~Workload() = default;

  [[nodiscard]] Collective collective() const { return collective_; }
  /// Writes the data that this rank sends in a call.
  virtual void prepare(std::uint32_t call) = 0;
  /// Makes the call; returns MPI's error code.
  virtual int run(const Functions& functions) = 0;
  /// Makes the call without data, so that a library can act on new settings.
  virtual int prime(const Functions& functions) = 0;
  /// The persistent form of the collective, if it has one. The first `start` initialises it with
  /// the current setting. Each `start` needs a `wait`.
  virtual int start() { return MPI_ERR_UNSUPPORTED_OPERATION; }
  virtual int wait() { return MPI_ERR_UNSUPPORTED_OPERATION; }
  /// The first wrong byte received, or the first byte written outside the data.
  [[nodiscard]] virtual std::optional<Mismatch> check(std::uint32_t call) const = 0;

 private:
  Collective collective_;
};

}  // namespace tutti::bench
