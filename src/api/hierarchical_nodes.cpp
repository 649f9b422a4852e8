/// Guesses nodes, and opens them if all ranks can.
#include "api/hierarchical_nodes.hpp"

#include "lowering/hierarchical.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

int HierarchicalNodes::open_flat(bool& ready) {
  ready = flat_ready_.value_or(are_open_);  // open nodes have made the duplicate
  if (flat_ready_ || are_open_) return MPI_SUCCESS;
  const MPI_Comm program = communicator_.handle();
  const QuietErrors quiet(program);
  const int error = duplicate_.create(
      program, ready, [this] { return communicator_.open_private(); },
      [this](int own) { communicator_.give_up_private(own); });
  if (error == MPI_SUCCESS) flat_ready_ = ready;
  return error;
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
  bool all = false;
  const int error = opened_.create(
      communicator_.handle(), all, [this] { return communicator_.open_hierarchical(); },
      [this](int) { communicator_.forget_hierarchical(); });
  if (error != MPI_SUCCESS) return error;
  if (all) nodes_ = communicator_.hierarchical().node().nodes();
  are_open_ = all;
  gave_up_ = !all;
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
