/// Collectives in which every rank has data for others, or none has, as workloads.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"

namespace tutti::bench {

/// bcast, allgather(v), alltoall(v) and barrier. Every block tells where it comes from.
class ExchangeWorkload final : public Workload {
 public:
  /// `sizes` in elements of `type`, `width` bytes wide: of each rank's block; for a bcast of the
  /// vector, in every place; for an alltoall of a block for one rank, where rank s has
  /// sizes[(s + d) mod p] for rank d. Ranks are those of `comm`. The error says that a count does
  /// not fit MPI's int.
  static Result<std::unique_ptr<Workload>> make(Collective collective,
                                                const std::vector<Bytes>& sizes, int width,
                                                MPI_Datatype type, Rank root, MPI_Comm comm);

  void prepare(std::uint32_t call) override;
  int run(const Functions& functions) override { return call(functions, sent_, received_); }
  int prime(const Functions& functions) override { return call(functions, nothing_, nothing_); }
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override;

 private:
  ExchangeWorkload(Collective collective, Layout sent, Layout received, MPI_Datatype type,
                   Rank root, MPI_Comm comm);
  int call(const Functions& functions, const Layout& sent, const Layout& received);
  /// What tells the i-th block sent, or the i-th block received, from all others.
  [[nodiscard]] Rank mark_of_sent(int block) const;
  [[nodiscard]] Rank mark_of_received(int block) const;

  Layout sent_;
  Layout received_;
  Layout nothing_;  ///< zeros
  MPI_Datatype type_;
  MPI_Comm comm_;
  Rank root_;
  Rank rank_;
  int p_;
  GuardedBuffer send_;     ///< nothing in a bcast
  GuardedBuffer receive_;  ///< of a bcast: the vector, also at the root
};

}  // namespace tutti::bench
