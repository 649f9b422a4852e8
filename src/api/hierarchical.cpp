/// Turns the arguments of a call into a hierarchical call, and runs it.
#include "api/hierarchical.hpp"

#include <algorithm>
#include <optional>

#include "api/call.hpp"
#include "protocols/node_arrivals.hpp"
#include "run/hierarchical/mpi_sides.hpp"

namespace tutti {

namespace {

/// The hierarchical call of a decision, with the context of the collectives between nodes.
class Between {
 public:
  Between(const Decision& decision, Communicator& communicator, HierarchicalRunner& runner)
      : communicator_(communicator), nodes_(runner.node().nodes()) {
    hierarchical_.call.leaders = std::max(1, decision.level.leaders);
    if (!decision.specification) return;
    const Machine& machine = communicator.machine();
    hierarchical_.inner = &*decision.specification;
    hierarchical_.context.half_performance_length = machine.half_performance_length();
    hierarchical_.context.rate = 1 / machine.per_byte;
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

  /// Finds the orders between nodes. Collective. Returns an MPI error code.
  int find_orders(const ArrivalEpoch* epoch, Rank root) {
    const bool has_order = hierarchical_.inner != nullptr && nodes_.count() > 1;
    if (has_order && epoch != nullptr && hierarchical_.inner->needs_arrivals()) {
      epoch_ = epoch_between(*epoch, nodes_);
      hierarchical_.context.epoch = &*epoch_;
    }
    if (!has_order) return MPI_SUCCESS;
    return communicator_.rank_orders(*hierarchical_.inner, root, hierarchical_.context.rank_orders,
                                     &nodes_);
  }
  [[nodiscard]] HierarchicalCall& call() { return hierarchical_; }

 private:
  Communicator& communicator_;
  const Nodes& nodes_;
  HierarchicalCall hierarchical_;
  std::optional<ArrivalEpoch> epoch_;
};

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

}  // namespace

int run_hierarchical(MpiCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native) {
  HierarchicalRunner* runner = nullptr;
  int error = communicator.open_hierarchical(runner);
  if (runner == nullptr) return error;
  const HierarchicalRunner::Turn turn(*runner);
  note_between(call.collective, decision, runner->node().nodes(), communicator);
  Between between(decision, communicator, *runner);
  error = between.find_orders(epoch, call.root);
  if (error != MPI_SUCCESS) return error;
  PrivateComm& comm = communicator.private_comm();
  const bool valid = looks_valid(call, communicator) && comm.calls().learn_types(call);
  is_native = !valid;
  // Collective, so before ranks diverge by their arguments.
  error = runner->prepare(between.call().call.leaders);
  if (error != MPI_SUCCESS) return error;
  const bool has_no_part =
      has_root(call.collective) && (call.root < 0 || call.root >= communicator.p());
  if (!valid && has_no_part) return MPI_SUCCESS;
  SideMemory memory(comm.transport());
  const int described = describe(call, communicator.rank(), communicator.p(), !valid, memory,
                                 between.call(), refused);
  if (!refused.empty()) return described;  // a dummy does not know that, and takes part
  error = runner->run(between.call(), refused);
  if (!refused.empty() || !valid) return error;
  if (error == MPI_SUCCESS) error = described;
  return error == MPI_SUCCESS ? memory.finish() : error;
}

}  // namespace tutti
