/// Runs gathers and scatters over a private communicator.
#include "run/communicator/mpi_communicator.hpp"

#include <algorithm>

#include "run/mpi/devices.hpp"

namespace tutti {

int PrivateComm::duplicate(MPI_Comm of, std::unique_ptr<PrivateComm>& made) {
  OwnedComm comm;
  const int error = OwnedComm::duplicate(of, comm);
  if (error == MPI_SUCCESS) made.reset(new PrivateComm(std::move(comm)));
  look_for_devices();
  return error;
}

int PrivateComm::split(MPI_Comm of, bool member, int key, std::unique_ptr<PrivateComm>& made) {
  OwnedComm comm;
  const int error = OwnedComm::split(of, member, key, comm);
  if (!comm.is_null()) made.reset(new PrivateComm(std::move(comm)));
  return error;
}

PrivateComm::~PrivateComm() { free(); }

void PrivateComm::free() {
  // A message to a freed communicator could match one of another communicator.
  const bool stays = async_ && !async_->settle();
  async_.reset();
  if (stays) {
    comm_.release();
  } else {
    comm_.free();
  }
}

void PrivateComm::receive_unexpected() {
  if (!async_) async_.emplace(transport_, handle(), executor_, planner_, rank_, p_);
  async_->expect();
}

void PrivateComm::receive_nothing_unexpected() {
  if (async_) async_->count_call_without();
}

void PrivateComm::count_call() {
  const auto turn = take_turn();
  if (!async_ || async_->calls().enter()) executor_.begin_call();
}

std::unique_lock<std::mutex> PrivateComm::take_turn() {
  return async_ ? async_->take_turn() : std::unique_lock<std::mutex>();
}

bool PrivateComm::learn_types(GatherScatterCall& call) {
  if (!call.in_place())
    call.block_info = info_at(call.block_buffer, types_.of(call.block_type, handle()));
  if (rank_ == call.root)
    call.root_info = info_at(call.root_buffer, types_.of(call.root_type, handle()));
  return (call.in_place() || call.block_info.valid) && (rank_ != call.root || call.root_info.valid);
}

int PrivateComm::run(const GatherScatterCall& call, const Specification& specification,
                     const CallContext& context) {
  const auto turn = take_turn();
  const int error = run_in_turn(call, specification, context);
  if (async_) async_->calls().leave();
  return error;
}

int PrivateComm::run_in_turn(const GatherScatterCall& call, const Specification& specification,
                             const CallContext& context) {
  const GatherScatterProblem problem = problem_of(call, specification, context);
  if (async_ && async_->calls().has_begun(call, problem.own, specification)) {
    return async_->calls().finish(call);
  }
  const Plan* plan = nullptr;
  const int error = planner_.prepare(problem, executor_, transport(), plan);
  if (error == GatherScatterPlanner::root_count_mismatch) return exchange_expected(call);
  if (error == GatherScatterPlanner::count_mismatch) return run_as_expected(call, problem);
  if (error != 0) return error;
  if (!specification.needs_arrivals()) remember(call, *plan);
  return execute(call, *plan, context.async_context);
}

GatherScatterProblem PrivateComm::problem_of(const GatherScatterCall& call) const {
  GatherScatterProblem problem;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = call.root;
  // One captured address fits into the function object, so that this allocates nothing.
  const GatherScatterCall* captured = &call;
  problem.size = [captured](Rank rank) {
    return captured->blocks.count(rank) * captured->root_info.size;
  };
  problem.own = call.in_place() ? problem.size(rank_) : call.block_count * call.block_info.size;
  problem.traits.in_place = call.in_place();
  const bool gathers = is_gather(call.collective);
  const bool block = call.in_place() || call.block_info.contiguous;
  const bool root = rank_ != call.root || call.root_info.contiguous;
  problem.traits.send_contiguous = gathers ? block : root;
  problem.traits.receive_contiguous = gathers ? root : block;
  return problem;
}

GatherScatterProblem PrivateComm::problem_of(const GatherScatterCall& call,
                                             const Specification& specification,
                                             const CallContext& context) const {
  GatherScatterProblem problem = problem_of(call);
  problem.specification = &specification;
  problem.half_performance_length = context.half_performance_length;
  if (context.epoch != nullptr) {
    problem.arrivals = &context.epoch->ranking;
    problem.ready = ready_times(specification, context.epoch->arrivals, context.rate);
  }
  if (context.rank_orders != nullptr) {
    problem.rank_order = is_irregular(call.collective) ? &context.rank_orders->of_any()
                                                       : &context.rank_orders->of(problem.own);
  }
  problem.all_sizes = context.all_sizes;
  problem.traits.packs_blocks =
      rank_ == call.root && call.root_info.contiguous &&
      packing_pays(call.blocks, call.root_info.size, p_, problem.arrivals != nullptr);
  return problem;
}

int PrivateComm::prepare(const GatherScatterCall& call, const Specification& specification,
                         const CallContext& context, const Plan*& plan) {
  const int error =
      planner_.prepare(problem_of(call, specification, context), executor_, transport(), plan);
  return error == GatherScatterPlanner::root_count_mismatch ||
                 error == GatherScatterPlanner::count_mismatch
             ? MPI_ERR_TRUNCATE
             : error;
}

int PrivateComm::learn_sizes(const GatherScatterCall& call, std::vector<Bytes>& sizes) {
  return GatherScatterPlanner::learn_sizes(problem_of(call), executor_, transport(), sizes);
}

void PrivateComm::give_up() {
  const auto turn = take_turn();
  if (async_) async_->calls().give_up();
}

void PrivateComm::take_part_as_dummy(const GatherScatterCall& call,
                                     const Specification& specification,
                                     const CallContext& context) {
  const bool others_wait =
      is_irregular(call.collective) && specification.knowledge() != Knowledge::nothing;
  if (!others_wait || call.root < 0 || call.root >= p_) return give_up();
  GatherScatterCall empty = call;
  empty.block_buffer = nullptr;
  empty.block_count = 0;
  empty.blocks = RankBlocks(0);
  empty.block_info = empty.root_info = {};
  run(empty, specification, context);
}

/// Receives or sends the messages that the others expect, with zeros for data, so that none waits
/// in vain.
int PrivateComm::exchange_expected(const GatherScatterCall& call) {
  const bool gathers = is_gather(call.collective);
  BufferAssignment assignment;
  for (const auto& [peer, bytes] : planner_.expected_messages()) {
    if (bytes == 0) continue;
    Operation operation;
    operation.kind = gathers ? StepKind::recv : StepKind::send;
    operation.peer = peer;
    (gathers ? operation.to : operation.from) = {
        Area::staging, {}, assignment.scratch, bytes, true};
    assignment.scratch += bytes;
    assignment.operations.push_back(std::move(operation));
  }
  std::byte* scratch = scratch_.reserve(assignment.scratch);
  std::fill_n(scratch, assignment.scratch, std::byte{});
  const Order order = Order::identity(p_);
  MpiBuffers buffers(call, order, scratch, iov_);
  const int error = executor_.run(assignment, buffers, transport());
  scratch_.trim();
  return error == 0 ? MPI_ERR_TRUNCATE : error;
}

/// Runs this rank's part with the sizes that the root has broadcast, with zeros for data.
int PrivateComm::run_as_expected(const GatherScatterCall& call,
                                 const GatherScatterProblem& problem) {
  const Bytes expected = planner_.expected(rank_);
  std::vector<std::byte> block(static_cast<std::size_t>(expected));
  GatherScatterCall substitute = call;
  substitute.block_buffer = block.data();
  substitute.block_count = expected;
  substitute.block_type = mpi().byte;
  substitute.block_info = {true, true, true, 1, 1};
  GatherScatterProblem fitting = problem;
  fitting.own = expected;
  fitting.traits.send_contiguous = fitting.traits.receive_contiguous = true;
  fitting.traits.in_place = false;
  const int error = execute(substitute, planner_.plan_of(fitting));
  return error == 0 ? MPI_ERR_TRUNCATE : error;
}

int PrivateComm::execute(const GatherScatterCall& call, const Plan& plan,
                         const AsyncContext* async_context) {
  if (async_ && !is_irregular(call.collective)) {
    const int error = async_->calls().announce(call, plan.key.own, plan, async_context);
    if (error != MPI_SUCCESS) return error;
  }
  MpiBuffers buffers(call, plan.order, scratch_.reserve(plan.assignment.scratch), iov_);
  const int result = executor_.run(plan.assignment, buffers, transport());
  scratch_.trim();
  return result;
}

bool PrivateComm::repeat(GatherScatterCall& call, const Specification& specification, int& error) {
  if (touches_device(call, rank_)) return false;
  for (const Prepared& before : prepared_) {
    if (before.plan == nullptr || !is_same(call, before) || !before.plan->key.is_of(specification))
      continue;
    call.block_info = before.call.block_info;
    call.root_info = before.call.root_info;
    const auto turn = take_turn();
    if (async_ && async_->calls().has_begun(call, before.plan->key.own, specification)) {
      error = async_->calls().finish(call);
    } else {
      error = execute(call, *before.plan);
    }
    if (async_) async_->calls().leave();
    return true;
  }
  return false;
}

bool PrivateComm::is_same(const GatherScatterCall& call, const Prepared& before) const {
  const GatherScatterCall& other = before.call;
  if (before.generation != planner_.generation() || call.collective != other.collective ||
      call.root != other.root || call.in_place() != other.in_place()) {
    return false;
  }
  if (!call.in_place() &&
      (call.block_count != other.block_count || call.block_type != other.block_type)) {
    return false;
  }
  return rank_ != call.root || (call.root_type == other.root_type && call.blocks == other.blocks);
}

void PrivateComm::remember(const GatherScatterCall& call, const Plan& plan) {
  const bool lasts = !is_irregular(call.collective) && (call.in_place() || call.block_info.named) &&
                     (rank_ != call.root || call.root_info.named);
  if (!lasts || touches_device(call, rank_)) return;
  for (Prepared& before : prepared_) {
    if (before.plan != &plan) continue;
    before = {call, &plan, planner_.generation()};
    return;
  }
  prepared_[next_prepared_] = {call, &plan, planner_.generation()};
  next_prepared_ = (next_prepared_ + 1) % prepared_.size();
}

}  // namespace tutti
