/// Creates lanes, and lowers and runs hierarchical calls.
#include "run/hierarchical/mpi_hierarchical.hpp"

#include <algorithm>

namespace tutti {

int HierarchicalRunner::open(MPI_Comm comm, const NodeSettings& settings,
                             std::unique_ptr<HierarchicalRunner>& made) {
  std::unique_ptr<HierarchicalRunner> runner(new HierarchicalRunner(comm));
  runner->staging_ = settings.staging;
  const int error = SharedNode::open(comm, settings, runner->node_);
  if (error == MPI_SUCCESS) made = std::move(runner);
  return error;
}

int HierarchicalRunner::prepare(int leaders) {
  leaders = possible(leaders);
  if (is_prepared(leaders)) return MPI_SUCCESS;
  Lanes made(index(leaders));
  int error = MPI_SUCCESS;
  // Continue after an error, which other ranks may not have.
  for (std::size_t lane = 0; lane < made.size(); ++lane) {
    keep_first(error, open_lane(leaders_of(static_cast<int>(lane), leaders), made[lane]));
  }
  if (error == MPI_SUCCESS) lanes_[leaders] = std::move(made);
  return error;
}

/// The local rank of the leader of `lane` on each node.
std::vector<int> HierarchicalRunner::leaders_of(int lane, int leaders) const {
  const Nodes& nodes = node_->nodes();
  std::vector<int> locals;
  for (int node = 0; node < nodes.count(); ++node) {
    locals.push_back(lane_leader(lane, leaders, nodes.size(node)));
  }
  return locals;
}

int HierarchicalRunner::open_lane(const std::vector<int>& locals,
                                  std::shared_ptr<PrivateComm>& lane) const {
  for (const auto& [leaders, known] : lanes_) {
    for (std::size_t other = 0; other < known.size(); ++other) {
      if (leaders_of(static_cast<int>(other), leaders) != locals) continue;
      lane = known[other];
      return MPI_SUCCESS;
    }
  }
  const int here = node_->nodes().node_of(node_->rank());
  const bool leads = locals[index(here)] == node_->local();
  std::unique_ptr<PrivateComm> made;
  const int error = PrivateComm::split(comm_, leads, here, made);
  if (made != nullptr) made->limit_staging(staging_);
  if (error == MPI_SUCCESS) lane = std::move(made);
  return error;
}

int HierarchicalRunner::first_ranks(PrivateComm*& comm) {
  const int error = prepare(1);
  comm = error == MPI_SUCCESS && !lanes_[1].empty() ? lanes_[1].front().get() : nullptr;
  return error;
}

int HierarchicalRunner::run(HierarchicalCall& hierarchical, std::string& refused) {
  const Turn turn(*this);
  if (const int error = prepare(hierarchical.call.leaders)) return error;
  const Lanes& lanes = lanes_[possible(hierarchical.call.leaders)];
  refused.clear();
  const Bytes sizes = size_exchange_bytes(hierarchical.call.collective);
  if (sizes > node_->capacity() / 2) {
    refused = "node memory cannot hold the sizes that ranks exchange";
    return MPI_SUCCESS;
  }
  int error = learn(hierarchical, lanes);
  const int count_mismatch =
      error == MPI_SUCCESS && !fits(hierarchical) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  if (count_mismatch != MPI_SUCCESS) {
    // An alltoallv still sends: the others' receive counts match what this rank sends.
    if (has_root(hierarchical.call.collective)) hierarchical.send = {};
    if (hierarchical.call.in_place && !has_root(hierarchical.call.collective)) {
      hierarchical.send = hierarchical.receive;
    }
    hierarchical.receive = {};
    hierarchical.call.in_place = hierarchical.call.direct = false;
  }
  if (error == MPI_SUCCESS) {
    const Program* program = program_of(hierarchical.call, refused);
    if (program != nullptr) {
      NodeBuffers buffers(*node_, node_->data() + sizes, hierarchical, *program, lanes, begin_,
                          begin_ + chunks_sequence);
      // Runs all operations, even after an error, so that no rank waits for this one in vain.
      error = executor_.run(*program, buffers, transport_);
    }
  }
  return error == MPI_SUCCESS ? count_mismatch : error;
}

void HierarchicalRunner::skip() {
  begin_ += sequence_numbers_of_call;
  node_->signal(node_->local()).signal_to(begin_);
}

/// The program of this rank; null if the call must stay flat, with the reason in `refused`.
const Program* HierarchicalRunner::program_of(const HierarchicalProblem& call,
                                              std::string& refused) {
  for (const Lowered& known : lowered_) {
    if (known.program.sequence_numbers > 0 && known.call == call) return &known.program;
  }
  const Nodes& nodes = node_->nodes();
  HierarchicalProblem cut = call;
  if (!exchanges_sizes(call.collective)) {
    cut.chunks = chunks_for(call, nodes, node_->rank(), node_->capacity()).value_or(refused_chunks);
  }
  if (cut.chunks == refused_chunks) {
    refused = "node memory cannot hold one element of each block";
    return nullptr;
  }
  Result<Program> program = hierarchical_program(cut, nodes, node_->rank());
  if (!program) {
    refused = program.error();
    return nullptr;
  }
  Lowered& kept = lowered_[next_lowered_];
  next_lowered_ = (next_lowered_ + 1) % lowered_.size();
  kept.call = call;
  kept.program = std::move(*program);
  return &kept.program;
}

}  // namespace tutti
