/// Turns arguments into sizes and plans, and executes these.
#include "run/communicator/mpi_collective.hpp"

#include <numeric>

#include "algorithms/staging.hpp"
#include "run/call/mpi_movement.hpp"
#include "run/communicator/mpi_communicator.hpp"

namespace tutti {

namespace {

/// True if consecutive blocks are not contiguous in memory.
bool are_scattered(const CallSide& side, int p) {
  for (Rank rank = 1; rank < p && !side.blocks.are_equal(); ++rank) {
    if (side.blocks.displacement(rank) !=
        side.blocks.displacement(rank - 1) + side.blocks.count(rank - 1)) {
      return true;
    }
  }
  return false;
}

BufferTraits traits_of(const CollectiveCall& call, const Specification& specification,
                       const std::vector<Bytes>& sizes, int p) {
  BufferTraits traits;
  traits.in_place = call.in_place();
  if (reduces(call.collective)) return traits;
  traits.send_contiguous = call.in_place() || call.send.info.contiguous;
  traits.receive_contiguous = call.receive.info.contiguous;
  if (block_kind(call.collective) != BlockKind::ranks || !traits.receive_contiguous) return traits;
  const Bytes all = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
  traits.packs_blocks = all < packed_block * static_cast<Bytes>(sizes.size());
  const bool as_numbered =
      specification.order == OrderName::natural || specification.order == OrderName::rotated;
  traits.receive_scattered = !as_numbered || are_scattered(call.receive, p);
  return traits;
}

}  // namespace

bool CollectiveCalls::learn_types(CollectiveCall& call) {
  if (reduces(call.collective)) {
    // One datatype for both sides, and one layout.
    call.receive.info = comm_.types().of(call.receive.type, comm_.handle());
    if (!call.receive.info.valid) return false;
    if (touches_device(call, comm_.rank())) call.receive.info.contiguous = false;
    call.send.info = call.receive.info;
    return operations_.can_reduce(call, comm_.handle());
  }
  return (!call.has_send_side() || learn(call.send, send_infos_)) &&
         (!call.has_receive_side() || learn(call.receive, receive_infos_));
}

/// Types of empty blocks do not matter.
bool CollectiveCalls::learn(CallSide& side, std::vector<TypeInfo>& infos) {
  if (side.types == nullptr) {
    side.info = info_at(side.address, comm_.types().of(side.type, comm_.handle()));
    return side.info.valid;
  }
  infos.assign(static_cast<std::size_t>(comm_.p()), {});
  side.infos = infos.data();
  for (Rank rank = 0; rank < comm_.p(); ++rank) {
    if (side.blocks.count(rank) == 0) continue;
    TypeInfo& info = infos[static_cast<std::size_t>(rank)];
    const void* const block = static_cast<std::byte*>(side.address) + side.displacement(rank);
    info = info_at(block, comm_.types().of(side.types[rank], comm_.handle()));
    if (!info.valid) return false;
  }
  return true;
}

/// Sets `sizes_` (see CollectiveProblem::sizes).
void CollectiveCalls::find_sizes(const CollectiveCall& call) {
  sizes_.clear();
  if (call.collective == Collective::barrier) return;
  if (!is_irregular(call.collective)) return sizes_.push_back(call.receive.bytes(0));
  if (block_kind(call.collective) == BlockKind::pairs) {
    const CallSide& sent = call.in_place() ? call.receive : call.send;
    for (Rank rank = 0; rank < comm_.p(); ++rank) sizes_.push_back(sent.bytes(rank));
  }
  for (Rank rank = 0; rank < comm_.p(); ++rank) sizes_.push_back(call.receive.bytes(rank));
}

CollectiveProblem CollectiveCalls::problem_of(const CollectiveCall& call,
                                              const Specification& specification,
                                              const CallContext& context) {
  find_sizes(call);
  CollectiveProblem problem;
  problem.specification = &specification;
  problem.p = comm_.p();
  problem.rank = comm_.rank();
  problem.root = call.root;
  problem.traits = traits_of(call, specification, sizes_, comm_.p());
  problem.sizes = &sizes_;
  if (reduces(call.collective)) {
    problem.unit = layout_.element();
    problem.traits.swaps = specification.algorithm->commutative;
    problem.traits.padding = layout_.padding();
  }
  problem.half_performance_length = context.half_performance_length;
  if (context.rank_orders != nullptr) {
    problem.rank_order = is_irregular(call.collective) || sizes_.empty()
                             ? &context.rank_orders->of_any()
                             : &context.rank_orders->of(sizes_.front());
  }
  if (context.epoch != nullptr) {
    problem.arrivals = &context.epoch->ranking;
    problem.ready = ready_times(specification, context.epoch->arrivals, context.rate);
  }
  return problem;
}

/// Counts the bytes of a vector, or of all blocks that a rank sends or receives. All ranks know
/// that number for every algorithm that stages data.
bool CollectiveCalls::fits(const CollectiveCall& call, const Specification& specification) {
  if (!call.bounded || specification.algorithm->staging == Staging::nothing) return true;
  find_sizes(call);
  const bool is_vector = block_kind(call.collective) == BlockKind::parts;
  const Bytes all = is_irregular(call.collective) || is_vector
                        ? std::accumulate(sizes_.begin(), sizes_.end(), Bytes{0})
                        : sizes_.front() * comm_.p();
  return tutti::fits(specification, comm_.p(), all, comm_.memory());
}

int CollectiveCalls::run(const CollectiveCall& call, const Specification& specification,
                         const CallContext& context) {
  return comm_.in_turn([&] {
    if (const int error = learn_layout(call)) return error;
    const Plan& plan = planner_.plan_of(problem_of(call, specification, context));
    if (!specification.needs_arrivals()) remember(call, plan);
    return execute(call, plan);
  });
}

void CollectiveCalls::take_part_as_dummy(const CollectiveCall& call,
                                         const Specification& specification,
                                         const CallContext& context) {
  CollectiveCall known = call;
  const bool receives =
      known.receive.looks_valid(comm_.p()) && learn(known.receive, receive_infos_);
  const bool sends =
      !call.in_place() && known.send.looks_valid(comm_.p()) && learn(known.send, send_infos_);
  const bool regular =
      call.collective == Collective::allgather || call.collective == Collective::alltoall;
  const bool knows_sizes =
      receives ? regular || call.collective == Collective::allgatherv : sends && regular;
  if (!knows_sizes) return comm_.give_up();
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  MPI_Count total = 0;
  for (Rank rank = 0; rank < comm_.p(); ++rank) {
    counts.push_back(receives ? known.receive.bytes(rank) : known.send.bytes(rank));
    displacements.push_back(static_cast<MPI_Aint>(total));
    total += counts.back();
  }
  std::vector<std::byte> sent(static_cast<std::size_t>(total));
  std::vector<std::byte> received(sent.size());
  const auto side = [&](std::vector<std::byte>& memory, const RankBlocks& blocks) {
    return CallSide{memory.data(), blocks, mpi().byte, nullptr, {true, true, true, 1, 1}, nullptr};
  };
  const auto mine = counts[static_cast<std::size_t>(comm_.rank())];
  known.send = side(sent, RankBlocks(mine));
  known.receive =
      side(received, is_irregular(call.collective) ? RankBlocks(counts.data(), displacements.data())
                                                   : RankBlocks(mine));
  if (!fits(known, specification)) return comm_.give_up();
  run(known, specification, context);
}

/// Sets the layout of a reduction's elements.
int CollectiveCalls::learn_layout(const CollectiveCall& call) {
  if (!reduces(call.collective)) return MPI_SUCCESS;
  return ElementLayout::of(call.receive.type, call.receive.info, layout_);
}

int CollectiveCalls::execute_reduction(const CollectiveCall& call, const Plan& plan) {
  Scratch& scratch = comm_.scratch();
  const Bytes packed = plan.assignment.scratch;
  std::byte* const memory = scratch.reserve(layout_.memory(packed));
  CollectiveCall reached = call;
  HostVectors vectors(layout_, comm_.transport());
  // The rank takes part even after an error, because others wait for it.
  int error = touches_device(call, comm_.rank()) ? vectors.take(reached, comm_.rank(), comm_.p())
                                                 : MPI_SUCCESS;
  ReductionBuffers buffers(reached, layout_, layout_.first(memory, packed));
  const int result = comm_.executor().run(plan.assignment, buffers, comm_.transport());
  scratch.trim();
  if (error == MPI_SUCCESS) error = result;
  return error == MPI_SUCCESS ? vectors.finish() : error;
}

int CollectiveCalls::execute(const CollectiveCall& call, const Plan& plan) {
  if (reduces(call.collective)) return execute_reduction(call, plan);
  Scratch& scratch = comm_.scratch();
  MovementBuffers buffers(call, plan.order, scratch.reserve(plan.assignment.scratch), comm_.iov());
  const int result = comm_.executor().run(plan.assignment, buffers, comm_.transport());
  scratch.trim();
  return result;
}

bool CollectiveCalls::repeat(CollectiveCall& call, const Specification& specification, int& error) {
  if (touches_device(call, comm_.rank())) return false;
  for (const Prepared& before : prepared_) {
    if (before.plan == nullptr || !is_same(call, before) || !before.plan->key.is_of(specification))
      continue;
    call.send.info = before.call.send.info;
    call.receive.info = before.call.receive.info;
    error = comm_.in_turn([&] {
      const int unknown = learn_layout(call);
      return unknown != MPI_SUCCESS ? unknown : execute(call, *before.plan);
    });
    return true;
  }
  return false;
}

bool CollectiveCalls::is_same(const CollectiveCall& call, const Prepared& before) const {
  const CollectiveCall& other = before.call;
  const auto are_same = [](const CallSide& one, const CallSide& two) {
    return one.type == two.type && one.blocks == two.blocks;
  };
  return before.generation == planner_.generation() && call.collective == other.collective &&
         call.root == other.root && call.in_place() == other.in_place() &&
         (!reduces(call.collective) || call.op == other.op) &&
         (!call.has_send_side() || are_same(call.send, other.send)) &&
         (!call.has_receive_side() || are_same(call.receive, other.receive));
}

void CollectiveCalls::remember(const CollectiveCall& call, const Plan& plan) {
  const bool lasts = !is_irregular(call.collective) &&
                     (!call.has_send_side() || call.send.info.named) &&
                     (!call.has_receive_side() || call.receive.info.named);
  if (!lasts || touches_device(call, comm_.rank())) return;
  prepared_[next_prepared_] = {call, &plan, planner_.generation()};
  next_prepared_ = (next_prepared_ + 1) % prepared_.size();
}

}  // namespace tutti
