/// Turns arguments into plans, and executes these.
#include <algorithm>

#include "algorithms/staging.hpp"
#include "run/communicator/mpi_communicator.hpp"

namespace tutti {

bool PrivateComm::learn_types(MpiCall& call) {
  if (reduces(call.collective)) {
    // One datatype for both sides, and one layout.
    call.receive.info = types_.of(call.receive.type, handle());
    if (!call.receive.info.valid) return false;
    if (touches_device(call, rank_)) call.receive.info.contiguous = false;
    call.send.info = call.receive.info;
    return operations_.can_reduce(call, handle());
  }
  return (!call.sends(rank_) || learn(call.send, send_infos_)) &&
         (!call.receives(rank_) || learn(call.receive, receive_infos_));
}

/// Types of empty blocks do not matter.
bool PrivateComm::learn(CallSide& side, std::vector<TypeInfo>& infos) {
  if (side.types == nullptr) {
    side.info = info_at(side.address, types_.of(side.type, handle()));
    return side.info.valid;
  }
  infos.assign(index(p_), {});
  side.infos = infos.data();
  for (Rank rank = 0; rank < p_; ++rank) {
    if (side.blocks.count(rank) == 0) continue;
    TypeInfo& info = infos[index(rank)];
    const void* const block = static_cast<std::byte*>(side.address) + side.displacement(rank);
    info = info_at(block, types_.of(side.types[rank], handle()));
    if (!info.valid) return false;
  }
  return true;
}

BufferTraits PrivateComm::traits_of(const MpiCall& call, const Specification& specification,
                                    bool is_shuffled) const {
  BufferTraits traits;
  traits.in_place = call.in_place();
  if (reduces(call.collective)) {
    traits.swaps = specification.algorithm->commutative;
    traits.padding = layout_.padding();
    return traits;
  }
  traits.send_contiguous = !call.sends(rank_) || call.send.info.contiguous;
  traits.receive_contiguous = !call.receives(rank_) || call.receive.info.contiguous;
  if (is_gather_or_scatter(call.collective)) {
    const CallSide& whole = call.whole();
    traits.packs_blocks = rank_ == call.root && whole.info.contiguous &&
                          packing_pays(whole.blocks, whole.info.size, p_, is_shuffled);
    return traits;
  }
  if (block_kind(call.collective) != BlockKind::ranks || !traits.receive_contiguous) return traits;
  traits.packs_blocks = sizes_.total(p_) < packed_block * p_;
  const bool as_numbered =
      specification.order == OrderName::natural || specification.order == OrderName::rotated;
  traits.receive_scattered = !as_numbered || call.receive.blocks.are_scattered(p_);
  return traits;
}

CallProblem PrivateComm::problem_of(const MpiCall& call, const Specification& specification,
                                    const CallContext& context) {
  find_sizes(call, rank_, p_, sizes_);
  CallProblem problem;
  problem.specification = &specification;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = call.root;
  if (context.epoch != nullptr) {
    problem.arrivals = &context.epoch->ranking;
    problem.ready = ready_times(specification, context.epoch->arrivals, settings().rate);
  }
  problem.sizes_exchanged = context.all_sizes != nullptr;
  if (problem.sizes_exchanged) sizes_.by_rank = *context.all_sizes;
  problem.sizes = &sizes_;
  if (reduces(call.collective)) problem.unit = layout_.element();
  if (context.rank_orders != nullptr) {
    problem.rank_order_class = RankOrders::class_of(call.collective, sizes_.each);
    problem.rank_order = &context.rank_orders->of_class[index(problem.rank_order_class)];
  }
  problem.traits = traits_of(call, specification, problem.arrivals != nullptr);
  return problem;
}

int PrivateComm::prepare(const MpiCall& call, const Specification& specification,
                         const CallContext& context, const Plan*& plan) {
  return acquire(problem_of(call, specification, context), plan);
}

int PrivateComm::acquire(const CallProblem& problem, const Plan*& plan) {
  const int error = planner_.prepare(problem, plan);
  return error == Planner::count_mismatch ? MPI_ERR_TRUNCATE : error;
}

int PrivateComm::learn_sizes(const MpiCall& call, std::vector<Bytes>& sizes) {
  const Specification any = *specification(call.collective, "linear");
  return planner_.learn_sizes(problem_of(call, any, {}), sizes);
}

/// Counts the bytes of a vector, or of all blocks that a rank sends or receives. All ranks know
/// that number for every algorithm that stages data, but not how much others copy for an alltoallv.
bool PrivateComm::fits(const MpiCall& call, const Specification& specification) {
  const Bytes staging = settings().staging;
  const bool bounded = call.bounded && staging > 0 && !is_gather_or_scatter(call.collective);
  const bool is_copied = call.copies_first() && !is_irregular(call.collective);
  const bool stages = specification.algorithm->staging != Staging::nothing;
  if (!bounded || !(stages || is_copied)) return true;
  find_sizes(call, rank_, p_, sizes_);
  const Bytes all = sizes_.total(block_kind(call.collective) == BlockKind::parts ? 1 : p_);
  const Bytes largest = sizes_.by_rank.empty() ? 0 : std::ranges::max(sizes_.by_rank);
  return staging_of(specification, p_, all, staging, largest) + (is_copied ? all : 0) <= staging;
}

/// Runs a call, unless the background thread has begun it, and keeps that thread out meanwhile.
template <class Run>
int PrivateComm::in_turn(const MpiCall& call, Bytes own, const Specification& specification,
                         Run run) {
  const auto turn = take_turn();
  if (!async_) return run();
  AsyncCalls& async = async_->calls();
  const bool has_begun = async.has_begun(call, own, specification);
  if (has_begun) instead_ = async.begun()->instead;
  const int error = has_begun ? async.finish(call) : run();
  if (has_begun) end();
  async.leave();
  return error;
}

int PrivateComm::run(const MpiCall& call, const Specification& specification,
                     const CallContext& context) {
  if (const int error = learn_layout(call)) return error;
  const CallProblem problem = problem_of(call, specification, context);
  return in_turn(call, problem.sizes->own, specification, [&] {
    const Plan* plan = nullptr;
    if (const int error = acquire(problem, plan)) return error;
    if (!specification.needs_arrivals()) remember(call, *plan, context);
    return execute(call, *plan, context);
  });
}

/// Sets the layout of a reduction's elements.
int PrivateComm::learn_layout(const MpiCall& call) {
  if (!reduces(call.collective)) return MPI_SUCCESS;
  return ElementLayout::of(call.receive.type, call.receive.info, layout_);
}

int PrivateComm::execute_reduction(const MpiCall& call, const Plan& plan) {
  const Bytes packed = plan.program.scratch;
  std::byte* const memory = scratch_.reserve(layout_.memory(packed));
  MpiCall reached = call;
  HostCopies copies(transport(), [this] { return !executor_.is_done(); });
  // The rank takes part even after an error, because others wait for it.
  int error = MPI_SUCCESS;
  if (touches_device(call, rank_)) error = hold_vectors(reached, rank_, p_, layout_, copies);
  ReductionBuffers buffers(reached, layout_, layout_.first(memory, packed));
  const int result = executor_.run(plan.program, buffers, transport());
  if (end()) scratch_.trim();
  if (error == MPI_SUCCESS) error = result;
  return error == MPI_SUCCESS ? copies.finish() : error;
}

int PrivateComm::execute(const MpiCall& call, const Plan& plan, const CallContext& context) {
  instead_ = plan.instead;
  if (reduces(call.collective)) return execute_reduction(call, plan);
  const bool may_begin = is_gather_or_scatter(call.collective) && !is_irregular(call.collective);
  if (async_ && may_begin) {
    const int error = async_->calls().announce(plan, context);
    if (error != MPI_SUCCESS) return error;
  }
  CallBuffers buffers(call, plan.order, scratch_.reserve(plan.program.scratch), iov_);
  const int result = executor_.run(plan.program, buffers, transport());
  if (end()) scratch_.trim();
  return result;
}

bool PrivateComm::repeat(MpiCall& call, const Specification& specification, int& error) {
  if (touches_device(call, rank_)) return false;
  for (const Prepared& before : prepared_) {
    if (before.plan == nullptr || !is_same(call, before) ||
        before.plan->key.specification != specification) {
      continue;
    }
    call.send.info = before.call.send.info;
    call.receive.info = before.call.receive.info;
    error = in_turn(call, before.plan->key.sizes.own, specification, [&] {
      const int unknown = learn_layout(call);
      return unknown != MPI_SUCCESS ? unknown : execute(call, *before.plan, before.context);
    });
    return true;
  }
  return false;
}

bool PrivateComm::is_same(const MpiCall& call, const Prepared& before) const {
  const MpiCall& other = before.call;
  const auto are_same = [](const CallSide& one, const CallSide& two) {
    return one.type == two.type && one.blocks == two.blocks;
  };
  return before.generation == planner_.generation() && call.collective == other.collective &&
         call.root == other.root && call.in_place() == other.in_place() &&
         call.bounded == other.bounded && (!reduces(call.collective) || call.op == other.op) &&
         (!call.sends(rank_) || are_same(call.send, other.send)) &&
         (!call.receives(rank_) || are_same(call.receive, other.receive));
}

void PrivateComm::remember(const MpiCall& call, const Plan& plan, const CallContext& context) {
  const bool lasts = !is_irregular(call.collective) &&
                     (!call.sends(rank_) || call.send.info.named) &&
                     (!call.receives(rank_) || call.receive.info.named);
  if (!lasts || touches_device(call, rank_)) return;
  // Without what is of one call only, for later calls with equal arguments.
  CallContext lasting;
  lasting.rank_orders = context.rank_orders;
  prepared_[next_prepared_] = {call, &plan, planner_.generation(), lasting};
  next_prepared_ = (next_prepared_ + 1) % prepared_.size();
}

}  // namespace tutti
