/// Which large-count calls have the plain form.
#include "api/plain_counts.hpp"

namespace tutti {

namespace {

constexpr MPI_Count most = std::numeric_limits<int>::max();

/// Equal on all ranks. Invalid arguments fit, so that the MPI names its own error.
bool fit_all_ranks(const MpiCall& call, Rank rank, int p) {
  if (reduces(call.collective)) {
    if (!call.receive.blocks.are_given()) return true;
    const bool is_one = block_kind(call.collective) == BlockKind::parts;
    MPI_Count elements = 0;
    for (Rank of = 0; of < (is_one ? 1 : p); ++of) elements += call.receive.blocks.count(of);
    return elements <= most;
  }
  if (is_irregular(call.collective)) return false;
  const CallSide& side = call.sends(rank) ? call.send : call.receive;
  MPI_Count size = 0;
  if (side.type == mpi().type_null || mpi().Type_size_x(side.type, &size) != MPI_SUCCESS)
    return true;
  return size == 0 || side.blocks.count(0) <= most / size;
}

}  // namespace

PlainCounts::PlainCounts(const MpiCall& call) {
  int rank = 0;
  int p = 0;
  int is_inter = 0;
  mpi().Comm_test_inter(call.comm, &is_inter);
  mpi().Comm_rank(call.comm, &rank);
  mpi().Comm_size(call.comm, &p);
  is_inter_ = is_inter != 0;
  if (!is_inter_) {
    fit_ = fit_all_ranks(call, rank, p);
    entries_ = fit_ && reduces(call.collective) ? p : 0;
  } else if (reduces(call.collective)) {
    entries_ = p;
  } else if (!has_root(call.collective) || call.root == MPI_ROOT) {
    mpi().Comm_remote_size(call.comm, &entries_);
  }
}

}  // namespace tutti
