/// Guesses nodes, and opens them if all ranks can.
#include "api/hierarchical_nodes.hpp"

#include <atomic>

#include "lowering/hierarchical.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

namespace {

/// The limit on communicators with open nodes: larger programs need the MPI's communicators
/// themselves.
constexpr int max_opened = 64;
std::atomic<int> opened = 0;
/// MPIs have some 2,000 communicators; programs may use nearly all of them.
constexpr int max_duplicates = 256;
std::atomic<int> duplicates = 0;

}  // namespace

HierarchicalNodes::~HierarchicalNodes() {
  if (is_counted_) --opened;
  if (flat_ready_.value_or(false)) --duplicates;
}

int HierarchicalNodes::open_flat(bool& ready) {
  ready = flat_ready_.value_or(are_open_);  // open nodes have made the duplicate
  if (flat_ready_ || are_open_) return MPI_SUCCESS;
  const QuietErrors quiet(communicator_.handle());
  const MPI_Comm program = communicator_.handle();
  if (const int error = true_on_all(program, duplicates < max_duplicates, ready)) return error;
  if (ready) {
    const int own = communicator_.open_private();
    if (const int error = true_on_all(program, own == MPI_SUCCESS, ready)) return error;
    if (!ready) communicator_.give_up_private(own);
  }
  if (ready) ++duplicates;
  flat_ready_ = ready;
  return MPI_SUCCESS;
}

int HierarchicalNodes::open_for(Collective collective, Bytes block, const Level& level,
                                bool& ready) {
  if (!level.hierarchical) return open_flat(ready);
  ready = false;
  if (const int error = guess()) return error;
  if (nodes_->most() > 1 && !are_open_ && !gave_up_) {
    if (const int error = open()) return error;
  }
  // A rank that cannot reach the memory of the others is a node of its own.
  const bool shares = !gave_up_ && nodes_->most() >= level.leaders && nodes_->most() > 1;
  if (!shares) return MPI_SUCCESS;
  return fits(collective, block, level.leaders) ? prepare(level.leaders, ready) : MPI_SUCCESS;
}

bool HierarchicalNodes::needs(const Level& level) const {
  if (!level.hierarchical) return !flat_ready_ && !are_open_;
  if (gave_up_) return false;
  return !are_open_ || !communicator_.hierarchical().is_prepared(level.leaders);
}

/// Creates communicators that the program did not request. If the MPI has none left for some rank,
/// that is not an error: all ranks drop the candidate.
int HierarchicalNodes::prepare(int leaders, bool& ready) {
  HierarchicalRunner& runner = communicator_.hierarchical();
  ready = runner.is_prepared(leaders);
  if (ready) return MPI_SUCCESS;
  const bool own = runner.prepare(leaders) == MPI_SUCCESS;
  const int error = true_on_all(communicator_.private_comm().handle(), own, ready);
  if (!ready) runner.forget(leaders);
  return error;
}

int HierarchicalNodes::guess() {
  if (nodes_) return MPI_SUCCESS;
  const QuietErrors quiet(communicator_.handle());
  Nodes nodes;
  const int error = guess_nodes(communicator_.handle(), communicator_.node_settings(), nodes);
  if (error != MPI_SUCCESS) return error;
  nodes_ = std::move(nodes);
  guessed_count_ = nodes_->count();
  guessed_most_ = nodes_->most();
  return MPI_SUCCESS;
}

Features HierarchicalNodes::features(Collective collective, Bytes block) const {
  const int p = communicator_.p();
  return {collective, p, block, nodes_ ? nodes_->count() : p, nodes_ ? nodes_->most() : 1};
}

Features HierarchicalNodes::kept_features(Collective collective, Bytes block) const {
  return {collective, communicator_.p(), block, guessed_count_, guessed_most_};
}

/// Opens the nodes, which the program did not request. If a rank cannot, all stay flat without an
/// error.
int HierarchicalNodes::open() {
  const MPI_Comm comm = communicator_.handle();
  bool all = false;
  int error = true_on_all(comm, opened < max_opened, all);
  if (error != MPI_SUCCESS) return error;
  if (all) {
    error = true_on_all(comm, communicator_.open_hierarchical() == MPI_SUCCESS, all);
    if (error != MPI_SUCCESS) return error;
    if (!all) communicator_.forget_hierarchical();
  }
  gave_up_ = !all;
  if (gave_up_) return MPI_SUCCESS;
  is_counted_ = true;
  ++opened;
  nodes_ = communicator_.hierarchical().node().nodes();
  are_open_ = true;
  return MPI_SUCCESS;
}

/// Does the memory of each node hold the call, in chunks if need be? Equal on all ranks: all blocks
/// count as equal, so that each one knows them. Costs what chunks_for() does.
bool HierarchicalNodes::fits(Collective collective, Bytes block, int leaders) const {
  HierarchicalProblem call;
  call.collective = block_kind(collective) == BlockKind::pairs ? Collective::alltoall
                    : is_gather(collective)                    ? Collective::gather
                    : is_scatter(collective)                   ? Collective::scatter
                                                               : collective;
  call.leaders = leaders;
  call.sizes.each = block;
  if (is_irregular(call.collective)) call.sizes.by_rank.assign(index(nodes_->p()), block);
  const std::optional<Bytes> capacity = communicator_.hierarchical().capacity_for(collective);
  return capacity && chunks_for(call, *nodes_, communicator_.rank(), *capacity);
}

}  // namespace tutti
