/// Running rooted collectives over a private communicator.
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
  // What comes to a communicator that is gone could be taken for another's.
  const bool stays = early_ && !early_->settle();
  early_.reset();
  if (stays) {
    comm_.release();
  } else {
    comm_.free();
  }
}

void PrivateComm::receive_early() {
  if (!early_) early_.emplace(transport_, handle(), executor_, planner_, rank_, p_);
  early_->expect();
}

void PrivateComm::receive_nothing_early() {
  if (early_) early_->count_call_without();
}

void PrivateComm::count_call() {
  const auto turn = take_turn();
  if (!early_ || early_->calls().enter()) executor_.begin_call();
}

std::unique_lock<std::mutex> PrivateComm::take_turn() {
  return early_ ? early_->take_turn() : std::unique_lock<std::mutex>();
}

bool PrivateComm::learn_types(RootedCall& call) {
  if (!call.in_place()) call.own_info = info_at(call.own, types_.of(call.own_type, handle()));
  if (rank_ == call.root) call.all_info = info_at(call.all, types_.of(call.all_type, handle()));
  return (call.in_place() || call.own_info.valid) && (rank_ != call.root || call.all_info.valid);
}

int PrivateComm::run(const RootedCall& call, const Specification& specification,
                     const CallKnowledge& knowledge) {
  const auto turn = take_turn();
  const int error = run_in_turn(call, specification, knowledge);
  if (early_) early_->calls().leave();
  return error;
}

int PrivateComm::run_in_turn(const RootedCall& call, const Specification& specification,
                             const CallKnowledge& knowledge) {
  const RootedProblem problem = problem_of(call, specification, knowledge);
  if (early_ && early_->calls().has_begun(call, problem.own, specification)) {
    return early_->calls().finish(call);
  }
  const Plan* plan = nullptr;
  const int error = planner_.prepare(problem, executor_, transport(), plan);
  if (error == RootedPlanner::mismatch) return exchange_announced(call);
  if (error == RootedPlanner::misfit) return run_as_expected(call, problem);
  if (error != 0) return error;
  if (!specification.needs_arrivals()) remember(call, *plan);
  return execute(call, *plan, knowledge.circumstances);
}

RootedProblem PrivateComm::problem_of(const RootedCall& call) const {
  RootedProblem problem;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = call.root;
  // One captured address fits into the function object, so that this allocates nothing.
  const RootedCall* captured = &call;
  problem.size = [captured](Rank rank) {
    return captured->blocks.count(rank) * captured->all_info.size;
  };
  problem.own = call.in_place() ? problem.size(rank_) : call.own_count * call.own_info.size;
  problem.ends.own_in_place = call.in_place();
  problem.ends.own_dense = call.in_place() || call.own_info.dense;
  problem.ends.all_dense = rank_ != call.root || call.all_info.dense;
  return problem;
}

RootedProblem PrivateComm::problem_of(const RootedCall& call, const Specification& specification,
                                      const CallKnowledge& knowledge) const {
  RootedProblem problem = problem_of(call);
  problem.specification = &specification;
  problem.latency = knowledge.latency;
  if (knowledge.version != nullptr) {
    problem.arrivals = &knowledge.version->places;
    problem.ready = ready_times(specification, knowledge.version->arrivals, knowledge.rate);
  }
  if (knowledge.placements != nullptr) {
    problem.placed = is_irregular(call.collective) ? &knowledge.placements->of_any()
                                                   : &knowledge.placements->of(problem.own);
  }
  problem.all_sizes = knowledge.all_sizes;
  problem.ends.all_packed =
      rank_ == call.root && call.all_info.dense &&
      packing_pays(call.blocks, call.all_info.size, p_, problem.arrivals != nullptr);
  return problem;
}

int PrivateComm::prepare(const RootedCall& call, const Specification& specification,
                         const CallKnowledge& knowledge, const Plan*& plan) {
  const int error =
      planner_.prepare(problem_of(call, specification, knowledge), executor_, transport(), plan);
  return error == RootedPlanner::mismatch || error == RootedPlanner::misfit ? MPI_ERR_TRUNCATE
                                                                            : error;
}

int PrivateComm::learn_sizes(const RootedCall& call, std::vector<Bytes>& sizes) {
  return RootedPlanner::learn_sizes(problem_of(call), executor_, transport(), sizes);
}

void PrivateComm::give_up() {
  const auto turn = take_turn();
  if (early_) early_->calls().give_up();
}

void PrivateComm::attend(const RootedCall& call, const Specification& specification,
                         const CallKnowledge& knowledge) {
  const bool others_wait =
      is_irregular(call.collective) && specification.knowledge() != Knowledge::nothing;
  if (!others_wait || call.root < 0 || call.root >= p_) return give_up();
  RootedCall empty = call;
  empty.own = nullptr;
  empty.own_count = 0;
  empty.blocks = RankBlocks(0);
  empty.own_info = empty.all_info = {};
  run(empty, specification, knowledge);
}

/// Takes or gives what the others have said, with zeros for data, so that none waits in vain.
int PrivateComm::exchange_announced(const RootedCall& call) {
  const bool gathers = is_gather(call.collective);
  Placement placement;
  for (const auto& [peer, bytes] : planner_.announced()) {
    if (bytes == 0) continue;
    Operation operation;
    operation.kind = gathers ? StepKind::recv : StepKind::send;
    operation.peer = peer;
    (gathers ? operation.to : operation.from) = {Area::scratch, {}, placement.scratch, bytes, true};
    placement.scratch += bytes;
    placement.operations.push_back(std::move(operation));
  }
  std::byte* scratch = scratch_.reserve(placement.scratch);
  std::fill_n(scratch, placement.scratch, std::byte{});
  const Order order = Order::identity(p_);
  MpiBuffers buffers(call, order, scratch, runs_);
  const int error = executor_.run(placement, buffers, transport());
  scratch_.trim();
  return error == 0 ? MPI_ERR_TRUNCATE : error;
}

/// Plays the part that the root has told all ranks of, with zeros for data.
int PrivateComm::run_as_expected(const RootedCall& call, const RootedProblem& problem) {
  const Bytes expected = planner_.expected(rank_);
  std::vector<std::byte> block(static_cast<std::size_t>(expected));
  RootedCall substitute = call;
  substitute.own = block.data();
  substitute.own_count = expected;
  substitute.own_type = mpi().byte;
  substitute.own_info = {true, true, true, 1, 1};
  RootedProblem fitting = problem;
  fitting.own = expected;
  fitting.ends.own_dense = true;
  fitting.ends.own_in_place = false;
  const int error = execute(substitute, planner_.plan_of(fitting));
  return error == 0 ? MPI_ERR_TRUNCATE : error;
}

int PrivateComm::execute(const RootedCall& call, const Plan& plan,
                         const Circumstances* circumstances) {
  if (early_ && !is_irregular(call.collective)) {
    const int error = early_->calls().announce(call, plan.key.own, plan, circumstances);
    if (error != MPI_SUCCESS) return error;
  }
  MpiBuffers buffers(call, plan.order, scratch_.reserve(plan.placement.scratch), runs_);
  const int result = executor_.run(plan.placement, buffers, transport());
  scratch_.trim();
  return result;
}

bool PrivateComm::repeat(RootedCall& call, const Specification& specification, int& error) {
  if (touches_device(call, rank_)) return false;
  for (const Prepared& before : prepared_) {
    if (before.plan == nullptr || !is_same(call, before) || !before.plan->key.is_of(specification))
      continue;
    call.own_info = before.call.own_info;
    call.all_info = before.call.all_info;
    const auto turn = take_turn();
    if (early_ && early_->calls().has_begun(call, before.plan->key.own, specification)) {
      error = early_->calls().finish(call);
    } else {
      error = execute(call, *before.plan);
    }
    if (early_) early_->calls().leave();
    return true;
  }
  return false;
}

bool PrivateComm::is_same(const RootedCall& call, const Prepared& before) const {
  const RootedCall& other = before.call;
  if (before.generation != planner_.generation() || call.collective != other.collective ||
      call.root != other.root || call.in_place() != other.in_place()) {
    return false;
  }
  if (!call.in_place() && (call.own_count != other.own_count || call.own_type != other.own_type)) {
    return false;
  }
  return rank_ != call.root || (call.all_type == other.all_type && call.blocks == other.blocks);
}

void PrivateComm::remember(const RootedCall& call, const Plan& plan) {
  const bool lasts = !is_irregular(call.collective) && (call.in_place() || call.own_info.named) &&
                     (rank_ != call.root || call.all_info.named);
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
