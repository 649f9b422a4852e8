/// Fills, calls and checks reductions.
#include "bench/mpi_reduction.hpp"

#include <algorithm>
#include <utility>

namespace tutti::bench {

Result<std::unique_ptr<Workload>> ReductionWorkload::make(Collective collective,
                                                          const std::vector<Bytes>& sizes,
                                                          int width, MPI_Datatype type,
                                                          Values values, Rank root, Rank rank) {
  const bool scatters = block_kind(collective) == BlockKind::ranks;
  Result<Layout> blocks = lay_out(scatters ? sizes : std::vector<Bytes>{sizes.front()}, width, 0);
  if (!blocks) return Error{blocks.error()};
  return std::unique_ptr<Workload>(new ReductionWorkload(
      collective, std::move(*blocks), type, values, root, rank, static_cast<int>(sizes.size())));
}

ReductionWorkload::ReductionWorkload(Collective collective, Layout blocks, MPI_Datatype type,
                                     Values values, Rank root, Rank rank, int p)
    : Workload(collective),
      blocks_(std::move(blocks)),
      nothing_(blocks_),
      type_(type),
      values_(values),
      root_(root),
      rank_(rank),
      p_(p),
      send_(blocks_.bytes),
      receive_(wanted_size()) {
  std::fill(nothing_.counts.begin(), nothing_.counts.end(), 0);
}

Bytes ReductionWorkload::wanted_begin() const {
  return blocks_.counts.size() == 1 ? 0 : blocks_.begin(rank_);
}

Bytes ReductionWorkload::wanted_size() const {
  if (block_kind(collective()) == BlockKind::ranks) return blocks_.size(rank_);
  return has_result(collective(), rank_, root_) ? blocks_.bytes : 0;
}

void ReductionWorkload::prepare(std::uint32_t call) {
  fill(send_.at(0, blocks_.bytes), rank_, call, values_);
}

int ReductionWorkload::call(const Functions& functions, const Layout& blocks) {
  MpiCall call;
  call.collective = collective();
  call.send.address = send_.data();
  call.receive = side_of(collective(), receive_.data(), type_, blocks.counts, {});
  call.op = values_ == Values::bits ? MPI_BXOR : MPI_SUM;
  call.root = root_;
  call.comm = MPI_COMM_WORLD;
  return apply(functions, call);
}

std::optional<Mismatch> ReductionWorkload::check(std::uint32_t call) const {
  const Rank ranks = contributors(collective(), p_, rank_);
  if (const auto wrong = check_combined(receive_.at(0, wanted_size()), wanted_begin(), ranks, rank_,
                                        call, values_)) {
    return wrong;
  }
  return receive_.check_guards();
}

}  // namespace tutti::bench
