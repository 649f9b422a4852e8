/// Creates lanes, and lowers and runs hierarchical calls.
#include "run/hierarchical/mpi_hierarchical.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "run/process.hpp"

namespace tutti {

std::size_t bytes_of(const LoweredCall& call) {
  return sizeof call + bytes_of(call.program) + call.key.sizes.memory();
}

int HierarchicalRunner::open(MPI_Comm comm, Nodes nodes, const NodeSettings& settings,
                             const PlanSettings& plans, std::unique_ptr<HierarchicalRunner>& made) {
  std::unique_ptr<HierarchicalRunner> runner(new HierarchicalRunner(comm));
  runner->plans_ = plans;
  const int error = SharedNode::open(comm, std::move(nodes), settings, runner->node_);
  if (error == MPI_SUCCESS) made = std::move(runner);
  return error;
}

HierarchicalRunner::~HierarchicalRunner() {
  // Messages between nodes may still come into node memory.
  if (node_ != nullptr && is_lost()) leak(node_);
}

Lanes& HierarchicalRunner::lanes_of(int leaders) {
  return lanes_[std::clamp(leaders, 1, node_->nodes().most())];
}

bool HierarchicalRunner::is_prepared(int leaders) {
  return node_->nodes().count() == 1 || !lanes_of(leaders).empty();
}

int HierarchicalRunner::prepare(int leaders) {
  if (is_prepared(leaders)) return MPI_SUCCESS;
  leaders = std::clamp(leaders, 1, node_->nodes().most());
  Lanes made(index(leaders));
  int error = MPI_SUCCESS;
  // Continue after an error, which other ranks may not have.
  for (int lane = 0; lane < leaders; ++lane) {
    keep_first(error, lane_of_leaders(leaders_of(lane, leaders), made[index(lane)]));
  }
  if (error == MPI_SUCCESS) lanes_of(leaders) = std::move(made);
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

void HierarchicalRunner::forget(int leaders) {
  lanes_of(leaders).clear();
  std::set<std::vector<int>> needed;
  for (const auto& [others, lanes] : lanes_) {
    for (int lane = 0; lane < others && !lanes.empty(); ++lane) {
      needed.insert(leaders_of(lane, others));
    }
  }
  std::erase_if(communicators_, [&](const auto& made) { return !needed.contains(made.first); });
}

int HierarchicalRunner::lane_of_leaders(const std::vector<int>& locals, PrivateComm*& lane) {
  const auto known = communicators_.find(locals);
  if (known != communicators_.end()) {
    lane = known->second.get();
    return MPI_SUCCESS;
  }
  const int here = node_->nodes().node_of(node_->rank());
  const bool leads = locals[index(here)] == node_->local();
  std::unique_ptr<PrivateComm> made;
  const int error = PrivateComm::split(comm_, leads, here, plans_, made);
  if (error != MPI_SUCCESS) return error;
  lane = made.get();
  communicators_.emplace(locals, std::move(made));
  return MPI_SUCCESS;
}

int HierarchicalRunner::first_ranks(PrivateComm*& comm) {
  const int error = prepare(1);
  const Lanes& lanes = lanes_of(1);
  comm = lanes.empty() || is_lost() ? nullptr : lanes.front();
  return error == MPI_SUCCESS && is_lost() ? MPI_ERR_OTHER : error;
}

std::optional<Bytes> HierarchicalRunner::capacity_for(Collective collective) const {
  const Bytes all = node_->capacity();
  const Bytes sizes = size_exchange_bytes(collective);
  return sizes > all / 2 ? std::nullopt : std::optional(all - sizes);
}

int HierarchicalRunner::run(HierarchicalCall& hierarchical, std::string& refused) {
  const Turn turn(*this);
  bool is_over = false;
  int error = MPI_SUCCESS;
  try {
    error = prepare(hierarchical.call.leaders);
    if (error == MPI_SUCCESS && !is_lost()) error = run_prepared(hierarchical, refused, is_over);
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  if (!is_over) lose();
  return error == MPI_SUCCESS && is_lost() ? MPI_ERR_OTHER : error;
}

/// A leader leaves a call early: its later collectives between nodes would meet those of this call
/// at other nodes, as would its open messages. Ranks that see its signals see this too.
void HierarchicalRunner::lose() {
  for (const auto& [locals, lane] : communicators_) {
    if (lane == nullptr) continue;
    lost() = 1;
    lane->leak();
  }
}

/// Sets `is_over` unless this rank leaves the call early, or with open messages.
int HierarchicalRunner::run_prepared(HierarchicalCall& hierarchical, std::string& refused,
                                     bool& is_over) {
  Lanes& lanes = lanes_of(hierarchical.call.leaders);
  refused.clear();
  const Bytes sizes = size_exchange_bytes(hierarchical.call.collective);
  if (!capacity_for(hierarchical.call.collective)) {
    refused = "node memory cannot hold the sizes that ranks exchange";
    is_over = true;
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
    is_over = std::ranges::all_of(
        lanes, [](PrivateComm* lane) { return lane == nullptr || lane->executor().is_done(); });
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
  if (const LoweredCall* const known = lowered_.find(call)) return &known->program;
  const Nodes& nodes = node_->nodes();
  HierarchicalProblem cut = call;
  if (!exchanges_sizes(call.collective)) {
    cut.chunks = chunks_for(call, nodes, node_->rank(), *capacity_for(call.collective))
                     .value_or(refused_chunks);
  }
  if (cut.chunks == refused_chunks) {
    refused = "node memory is too small for the call";
    return nullptr;
  }
  Result<Program> program = hierarchical_program(cut, nodes, node_->rank());
  if (!program) {
    refused = program.error();
    return nullptr;
  }
  return &lowered_.keep({call, std::move(*program)}).program;
}

}  // namespace tutti
