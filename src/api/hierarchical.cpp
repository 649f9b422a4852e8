/// Turns the arguments of a call into a hierarchical call, and runs it.
#include <algorithm>
#include <new>
#include <optional>

#include "api/call.hpp"
#include "protocols/arrival_agreement.hpp"
#include "run/hierarchical/mpi_sides.hpp"

namespace tutti {

namespace {

/// Sets the collective between nodes, whose expected arrivals are `between` if known, and its
/// order. Collective. Returns an MPI error code.
int set_inner(const Decision& decision, Communicator& communicator, const ArrivalEpoch* between,
              Rank root, HierarchicalCall& hierarchical) {
  hierarchical.call.leaders = decision.level.leaders;
  if (!decision.specification) return MPI_SUCCESS;
  const Nodes& nodes = communicator.hierarchical().node().nodes();
  hierarchical.inner = &*decision.specification;
  if (nodes.count() == 1) return MPI_SUCCESS;
  hierarchical.context.epoch = between;
  return communicator.rank_orders(*hierarchical.inner, root, hierarchical.context.rank_orders,
                                  &nodes);
}

/// Reports what runs between nodes if it differs from the request.
void note_between(Collective collective, const Decision& decision, const Nodes& nodes,
                  Communicator& communicator) {
  if (!decision.specification) return;
  const Specification& asked = *decision.specification;
  if (nodes.count() == 1) {
    return communicator.note_algorithm(collective, decision.text,
                                       "; uses node memory alone because all ranks share a node");
  }
  const Collective form = form_between(collective, nodes, decision.level.leaders);
  if (form == collective) return;
  const Specification runs = between_nodes(asked, form);
  if (runs.algorithm->name == asked.algorithm->name) return;
  communicator.note_algorithm(
      collective, decision.text,
      "; " + std::string(runs.algorithm->name) + " runs between nodes because " +
          std::string(asked.algorithm->name) + " has no form for " + std::string(name_of(form)));
}

/// Runs a call in its turn; `epoch` holds the expected arrivals, if known.
int run_in_turn(MpiCall& call, Communicator& communicator, const Decision& decision,
                const Profile& epoch, bool& is_refused, bool& is_native) {
  HierarchicalRunner& runner = communicator.hierarchical();
  const Nodes& nodes = runner.node().nodes();
  note_between(call.collective, decision, nodes, communicator);
  HierarchicalCall hierarchical;
  std::optional<ArrivalEpoch> between;
  if (epoch != nullptr) between = epoch_between(*epoch, nodes);
  int error =
      set_inner(decision, communicator, between ? &*between : nullptr, call.root, hierarchical);
  if (error != MPI_SUCCESS) return error;
  PrivateComm& comm = communicator.private_comm();
  const bool valid = looks_valid(call, communicator) && comm.learn_types(call);
  is_native = !valid;
  // Collective, so before ranks diverge by their arguments.
  error = runner.prepare(hierarchical.call.leaders);
  if (error != MPI_SUCCESS) return error;
  if (fault_of(call, communicator) == MPI_ERR_ROOT) return MPI_SUCCESS;  // it has no part
  const bool was_lost = runner.is_lost();
  HostCopies copies(comm.transport(), [&] { return runner.is_lost() && !was_lost; });
  std::string refused;
  const int described =
      describe(call, communicator.rank(), communicator.p(), !valid, copies, hierarchical, refused);
  // A dummy does not know that the call is refused, and takes part.
  error = refused.empty() ? runner.run(hierarchical, refused) : described;
  is_refused = !refused.empty();
  if (is_refused) communicator.note_refusal(call.collective, decision, refused);
  if (is_refused || !valid) return error;
  if (error == MPI_SUCCESS) error = described;
  return error == MPI_SUCCESS ? copies.finish() : error;
}

}  // namespace

int run_hierarchical(MpiCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivedCall* arrived, bool& is_refused, bool& is_native) {
  is_refused = false;
  Profile epoch;
  int error = MPI_SUCCESS;
  // Any rank of the root's node may be the root between nodes.
  if (decision.specification && arrived != nullptr) {
    error = arrived->find_epoch(*decision.specification, true, epoch);
  }
  if (error != MPI_SUCCESS) return error;
  error = communicator.open_hierarchical();
  if (error != MPI_SUCCESS) return error;
  HierarchicalRunner& runner = communicator.hierarchical();
  const HierarchicalRunner::Turn turn(runner);
  try {
    return run_in_turn(call, communicator, decision, epoch, is_refused, is_native);
  } catch (const std::bad_alloc&) {
    if (!turn.is_counted()) runner.lose();
    throw;
  }
}

}  // namespace tutti
