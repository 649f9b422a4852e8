/// Which large-count calls have the plain form, and what runs the others.
#include "api/plain_counts.hpp"

#include <algorithm>
#include <limits>

#include "api/call.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

constexpr MPI_Count max_int = std::numeric_limits<int>::max();

/// Equal on all ranks. Invalid arguments fit, so that the MPI names its own error.
bool fit_all_ranks(const MpiCall& call, Rank rank, int p) {
  if (reduces(call.collective)) {
    if (!call.receive.blocks.are_given()) return true;
    const bool is_one = block_kind(call.collective) == BlockKind::parts;
    return call.receive.blocks.total(is_one ? 1 : p) <= max_int;
  }
  if (is_irregular(call.collective)) return false;
  const CallSide& side = call.sends(rank) ? call.send : call.receive;
  MPI_Count size = 0;
  if (side.type == mpi().type_null || mpi().Type_size_x(side.type, &size) != MPI_SUCCESS)
    return true;
  return size == 0 || side.blocks.count(0) <= max_int / size;
}

bool fits(const CallSide& side) {
  return !side.blocks.are_equal() || side.blocks.count(0) <= max_int;
}

/// Between groups: do the counts fit that are significant at this rank? Arrays show it themselves.
bool fit_between(const MpiCall& call) {
  if (reduces(call.collective) || call.collective == Collective::bcast) {
    return call.root == MPI_PROC_NULL || fits(call.receive);
  }
  if (!has_root(call.collective)) return fits(call.send) && fits(call.receive);
  if (call.root == MPI_PROC_NULL) return true;
  const bool sends = (call.root == MPI_ROOT) == is_scatter(call.collective);
  return fits(sends ? call.send : call.receive);
}

}  // namespace

PlainCall::PlainCall(const MpiCall& large) : call_(large) {
  int is_inter = 0;
  mpi().Comm_test_inter(large.comm, &is_inter);
  const int p = size_of(large.comm);
  if (is_inter == 0) {
    fits_ = fit_all_ranks(large, rank_in(large.comm), p);
    entries_ = fits_ && reduces(large.collective) ? p : 0;
  } else {
    fits_ = fit_between(large);
    if (reduces(large.collective)) {
      entries_ = p;
    } else if (!has_root(large.collective) || large.root == MPI_ROOT) {
      mpi().Comm_remote_size(large.comm, &entries_);
    }
  }
  turn(call_.send.blocks);
  turn(call_.receive.blocks);
}

template <class Number>
const int* PlainCall::ints_of(Number number) {
  if (entries_ == 0) return nullptr;
  std::vector<int>& ints = arrays_.emplace_back();
  for (Rank rank = 0; rank < entries_; ++rank) {
    ints.push_back(static_cast<int>(number(rank)));
    if (ints.back() != number(rank)) fits_ = false;
  }
  return ints.data();
}

/// A count that does not fit has no significance, or no bytes, where the call has the form; a
/// negative one stays invalid.
void PlainCall::turn(RankBlocks& blocks) {
  const RankBlocks large = blocks;
  if (large.are_equal()) {
    blocks = RankBlocks(std::clamp<MPI_Count>(large.count(0), -1, max_int));
    return;
  }
  blocks = RankBlocks::counted(ints_of([&](Rank rank) { return large.count(rank); }));
  if (large.are_placed()) {
    blocks.place(ints_of([&](Rank rank) { return large.displacement(rank); }));
  }
}

int run_without_large_form(const MpiCall& as_given) {
  return on_comm(as_given.comm, [&]() -> int {
    MpiCall call = as_given;
    int error = MPI_SUCCESS;
    Communicator* communicator = Communicator::of(call.comm, error);
    if (communicator == nullptr) return error;
    if (communicator->stays_native()) return MPI_ERR_UNSUPPORTED_OPERATION;
    call.bounded = false;
    // A specification that accepts whatever MPI allows.
    const Specification plain = reduces(call.collective)
                                    ? *specification_for(call.collective, "fixed")
                                    : *specification(call.collective, "linear");
    bool is_native = false;
    error = run_specification(call, *communicator, plain, nullptr, is_native);
    if (is_native) error = fault_of(call, *communicator);
    return is_native && error == MPI_SUCCESS ? MPI_ERR_TYPE : error;
  });
}

}  // namespace tutti
