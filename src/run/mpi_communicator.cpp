/// Running rooted collectives over a private communicator.
#include "run/mpi_communicator.hpp"

namespace tutti {

int PrivateComm::duplicate(MPI_Comm of, std::unique_ptr<PrivateComm>& made) {
  MPI_Group group = mpi().group_null;
  int error = mpi().Comm_group(of, &group);
  if (error != MPI_SUCCESS) return error;
  MPI_Comm comm = mpi().comm_null;
  error = mpi().Comm_create(of, group, &comm);
  mpi().Group_free(&group);
  if (error != MPI_SUCCESS) return error;
  Rank rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  mpi().Comm_set_errhandler(comm, mpi().errors_return);
  made.reset(new PrivateComm(comm, rank, p));
  return MPI_SUCCESS;
}

PrivateComm::~PrivateComm() { free(); }

void PrivateComm::free() {
  if (comm_ == mpi().comm_null) return;
  mpi().Comm_free(&comm_);
  comm_ = mpi().comm_null;
}

bool PrivateComm::is_valid(MPI_Datatype type) const {
  int bytes = 0;
  return type != mpi().type_null && mpi().Pack_size(0, type, comm_, &bytes) == MPI_SUCCESS;
}

int PrivateComm::run(const RootedCall& call, const Specification& specification, Bytes latency) {
  const bool at_root = rank_ == call.root;
  MPI_Count own_element = 0;
  MPI_Count all_element = 0;
  if (!call.in_place()) mpi().Type_size_x(call.own_type, &own_element);
  if (at_root) mpi().Type_size_x(call.all_type, &all_element);

  RootedProblem problem;
  problem.specification = &specification;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = call.root;
  problem.latency = latency;
  // Captures fit into the function object, so that this allocates nothing.
  const RootBlocks* blocks = &call.blocks;
  problem.size = [blocks, all_element](Rank rank) { return blocks->count(rank) * all_element; };
  problem.own = call.in_place() ? problem.size(rank_) : call.own_count * own_element;
  problem.ends.own_in_place = call.in_place();
  if (specification.algorithm->takes("segment")) {
    problem.ends.own_dense = call.in_place() || is_dense(call.own_type);
    problem.ends.all_dense = !at_root || is_dense(call.all_type);
  }

  const Plan* plan = nullptr;
  const int error = planner_.prepare(problem, executor_, transport_, plan);
  if (error == RootedPlanner::mismatch) return MPI_ERR_TRUNCATE;
  if (error != 0) return error;
  MpiBuffers buffers(call, plan->order, scratch_.reserve(plan->placement.scratch));
  const int result = executor_.run(plan->placement, buffers, transport_);
  scratch_.trim();
  return result;
}

}  // namespace tutti
