/// Gathers and scatters as workloads.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

/// Every rank knows the whole layout; only what MPI asks for is passed on.
class GatherScatterWorkload final : public Workload {
 public:
  /// `type` has the width of the layout. The regular collectives need equal blocks without gaps.
  GatherScatterWorkload(Collective collective, Layout layout, MPI_Datatype type, Rank root,
                        Rank rank);
  ~GatherScatterWorkload() override;

  void prepare(std::uint32_t call) override;
  int run(const Functions& functions) override;
  int prime(const Functions& functions) override;
  int start() override;
  int wait() override;
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override;

 private:
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  struct Inits;
  /// Calls the collective's function, which may take a request as well.
  template <class AnyFunctions, class... Request>
  int call(const AnyFunctions& functions, const std::vector<int>& counts, Request*... request);

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
