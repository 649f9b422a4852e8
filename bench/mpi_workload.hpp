/// The buffers of one problem and the call on them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/mpi_functions.hpp"
#include "bench/payload.hpp"
#include "core/types.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

/// One rank's side of a gather or scatter that is called again and again with new data. Every
/// rank knows the whole layout; only what MPI asks for is passed on.
class Workload {
 public:
  /// `type` has the width of the layout. The regular collectives need equal blocks without gaps.
  Workload(Collective collective, Layout layout, MPI_Datatype type, Rank root, Rank rank);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] Collective collective() const { return collective_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Writes what this rank sends in this call.
  void prepare(std::uint32_t call);
  /// The collective over MPI_COMM_WORLD; MPI's error code.
  int run(const Functions& functions);
  /// The same with all counts zero: what a library decides once for new settings, it decides here.
  int prime(const Functions& functions);
  /// The same collective in its persistent form, set up at the first call with what is in force for
  /// its collective then. Each `start` needs its `wait`.
  int start();
  int wait();

  /// The first received byte that is wrong, or byte beside the data that was written.
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const;

 private:
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  int call(const Functions& functions, const std::vector<int>& counts);
  int set_up();

  Collective collective_;
  Layout layout_;
  std::vector<int> no_counts_;  ///< zeros
  MPI_Datatype type_;
  Rank root_;
  Rank rank_;
  GuardedBuffer vector_;  ///< all blocks, at the root only
  GuardedBuffer block_;   ///< this rank's
  TUTTI_Request request_ = TUTTI_REQUEST_NULL;
};

}  // namespace tutti::bench
