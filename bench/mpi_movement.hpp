/// Workloads that move data: all collectives but reductions.
#pragma once

#include <vector>

#include "bench/mpi_workload.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

/// A collective that moves blocks. The data of every block identify its source. A rank passes only
/// arguments that are significant there.
class MovementWorkload final : public Workload {
 public:
  /// The blocks of one call. Sizes and root are those of ranks of MPI_COMM_WORLD: a communicator
  /// that numbers the ranks differently moves the same data between the same processes.
  struct Problem {
    /// In elements, of each rank's block; for a bcast, each is that of the vector; for an alltoall,
    /// rank s has sizes[(s + d) mod p] elements for rank d.
    const std::vector<Bytes>& sizes;
    int width = 1;  ///< bytes of an element
    MPI_Datatype type = MPI_BYTE;
    Rank root = 0;
    Bytes gap = 0;  ///< gathers and scatters of varying sizes: elements between the root's blocks
  };
  /// An error if a count does not fit MPI's int.
  static Result<std::unique_ptr<Workload>> make(Collective collective, const Problem& problem,
                                                MPI_Comm comm);
  ~MovementWorkload() override;

  void prepare(std::uint32_t call) override;
  int run(const Functions& functions) override {
    return apply(functions, call_with(sent_, received_));
  }
  int prime(const Functions& functions) override {
    return apply(functions, call_with(nothing_, nothing_));
  }
  int start() override;
  int wait() override { return TUTTI_Wait(&request_); }
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override;

 private:
  MovementWorkload(Collective collective, Layout sent, Layout received, const Problem& problem,
                   MPI_Comm comm);
  /// The call with counts and displacements of other blocks.
  [[nodiscard]] MpiCall call_with(const Layout& sent, const Layout& received);
  /// Makes the persistent call.
  int init();
  /// The identity of the i-th block sent, or of the i-th block received.
  [[nodiscard]] Rank mark_of_sent(int block) const;
  [[nodiscard]] Rank mark_of_received(int block) const;
  [[nodiscard]] bool has_one_buffer() const { return collective() == Collective::bcast; }

  Layout sent_;  ///< without blocks if the side is not significant at this rank
  Layout received_;
  Layout nothing_;  ///< zeros
  MPI_Datatype type_;
  MPI_Comm comm_;
  Rank root_;
  Rank rank_ = 0;
  int p_ = 1;
  GuardedBuffer send_;     ///< empty in a bcast
  GuardedBuffer receive_;  ///< in a bcast: the vector, also at the root
  TUTTI_Request request_ = TUTTI_REQUEST_NULL;
};

}  // namespace tutti::bench
