/// Gathers and scatters as workloads.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

/// A gather(v) or scatter(v). Every rank knows the entire layout, but passes only MPI's arguments.
class GatherScatterWorkload final : public Workload {
 public:
  /// `type` has the layout's width. Regular collectives need equal blocks without gaps.
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
  [[nodiscard]] Arguments arguments(const std::vector<int>& counts);
  /// Makes the persistent call.
  int init();

  Layout layout_;
  std::vector<int> no_counts_;  ///< zeros
  MPI_Datatype type_;
  Rank root_;
  Rank rank_;
  GuardedBuffer vector_;  ///< all blocks, at the root only
  GuardedBuffer block_;   ///< this rank's block
  TUTTI_Request request_ = TUTTI_REQUEST_NULL;
};

}  // namespace tutti::bench
