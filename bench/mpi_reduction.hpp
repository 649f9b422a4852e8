/// Reductions as workloads.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"

namespace tutti::bench {

/// reduce, allreduce and reduce_scatter(_block) of bits by exclusive or, which is as exact in any
/// sequence and tells a contribution that is missing, there twice or out of place.
class ReductionWorkload final : public Workload {
 public:
  /// `sizes` in elements of `type`, `width` bytes wide: of the vector, in every place; for a
  /// reduce_scatter of each rank's block. The error says that a count does not fit MPI's int.
  static Result<std::unique_ptr<Workload>> make(Collective collective,
                                                const std::vector<Bytes>& sizes, int width,
                                                MPI_Datatype type, Rank root, Rank rank);

  void prepare(std::uint32_t call) override;
  int run(const Functions& functions) override { return call(functions, blocks_); }
  int prime(const Functions& functions) override { return call(functions, nothing_); }
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override;

 private:
  ReductionWorkload(Collective collective, Layout blocks, MPI_Datatype type, Rank root, Rank rank,
                    int p);
  int call(const Functions& functions, const Layout& blocks);
  /// The part of the vector that this rank has in the end.
  [[nodiscard]] Bytes wanted_begin() const;
  [[nodiscard]] Bytes wanted_size() const;

  Layout blocks_;  ///< the whole vector, or that of each rank
  Layout nothing_;
  MPI_Datatype type_;
  Rank root_;
  Rank rank_;
  int p_;
  GuardedBuffer send_;
  GuardedBuffer receive_;
};

}  // namespace tutti::bench
