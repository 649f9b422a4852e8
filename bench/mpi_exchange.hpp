/// Workloads for bcast, allgather(v), alltoall(v) and barrier.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"

namespace tutti::bench {

/// A bcast, allgather(v), alltoall(v) or barrier. The data of every block identify its source.
class ExchangeWorkload final : public Workload {
 public:
  /// `sizes` are in elements of `type`, which has `width` bytes. They are those of each rank's
  /// block; for a bcast, each is that of the vector; for an alltoall, rank s has
  /// sizes[(s + d) mod p] elements for rank d. Ranks are those of `comm`. An error if a count does
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
  /// The identity of the i-th block sent, or of the i-th block received.
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
  GuardedBuffer send_;     ///< empty in a bcast
  GuardedBuffer receive_;  ///< in a bcast: the vector, also at the root
};

}  // namespace tutti::bench
