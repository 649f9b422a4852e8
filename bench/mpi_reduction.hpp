/// Reductions as workloads.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"

namespace tutti::bench {

/// A reduce, allreduce, reduce_scatter(_block) or scan of bits by exclusive or, or of floats by
/// sum. Its result is exact in any order, and reveals contributions that are missing, duplicate or
/// misplaced.
class ReductionWorkload final : public Workload {
 public:
  /// `sizes` are in elements of `type`, which has `width` bytes. For a reduce_scatter they are
  /// those of each rank's block; otherwise each is that of the vector. An error if a count does not
  /// fit MPI's int.
  static Result<std::unique_ptr<Workload>> make(Collective collective,
                                                const std::vector<Bytes>& sizes, int width,
                                                MPI_Datatype type, Values values, Rank root,
                                                Rank rank);

  void prepare(std::uint32_t call) override;
  int run(const Functions& functions) override { return call(functions, blocks_); }
  int prime(const Functions& functions) override { return call(functions, nothing_); }
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override;

 private:
  ReductionWorkload(Collective collective, Layout blocks, MPI_Datatype type, Values values,
                    Rank root, Rank rank, int p);
  int call(const Functions& functions, const Layout& blocks);
  /// The part of the vector that this rank receives.
  [[nodiscard]] Bytes wanted_begin() const;
  [[nodiscard]] Bytes wanted_size() const;

  Layout blocks_;  ///< the entire vector, or the block of each rank
  Layout nothing_;
  MPI_Datatype type_;
  Values values_;
  Rank root_;
  Rank rank_;
  int p_;
  GuardedBuffer send_;
  GuardedBuffer receive_;
};

}  // namespace tutti::bench
