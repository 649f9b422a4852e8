/// From arguments to a call of the node level.
#include "api/hierarchical.hpp"

#include <algorithm>
#include <optional>

#include "protocols/node_arrivals.hpp"
#include "run/hierarchical/mpi_sides.hpp"

namespace tutti {

namespace {

/// What is decided of a call, with what the collectives between nodes are to know.
class Between {
 public:
  Between(const Decision& decision, Communicator& communicator, HierarchicalRunner& levels)
      : communicator_(communicator), nodes_(levels.node().nodes()) {
    hierarchical_.call.leaders = std::max(1, decision.level.leaders);
    if (!decision.specification) return;
    const Machine& machine = communicator.machine();
    hierarchical_.inner = &*decision.specification;
    hierarchical_.context.half_performance_length = machine.half_performance_length();
    hierarchical_.context.rate = 1 / machine.per_byte;
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

  /// Collective. Returns an MPI error code.
  int find_orders(const ArrivalEpoch* epoch, Rank root) {
    const bool has_order = hierarchical_.inner != nullptr && nodes_.count() > 1;
    if (has_order && epoch != nullptr && hierarchical_.inner->needs_arrivals()) {
      epoch_ = epoch_between(*epoch, nodes_);
      hierarchical_.context.epoch = &*epoch_;
    }
    int error = MPI_SUCCESS;
    if (has_order) {
      hierarchical_.context.rank_orders =
          communicator_.rank_orders_between(*hierarchical_.inner, root, nodes_, error);
    }
    return error;
  }
  [[nodiscard]] HierarchicalCall& call() { return hierarchical_; }

 private:
  Communicator& communicator_;
  const Nodes& nodes_;
  HierarchicalCall hierarchical_;
  std::optional<ArrivalEpoch> epoch_;
};

/// Says what runs between nodes where that is not what was asked for.
void note_between(Collective collective, const Decision& decision, const Nodes& nodes,
                  Communicator& communicator) {
  if (!decision.specification) return;
  const Specification& asked = *decision.specification;
  if (nodes.count() == 1) {
    return communicator.note_algorithm(collective, decision.text,
                                       ", but all ranks share a node: nothing runs between nodes");
  }
  const Collective form = form_between(collective, nodes, decision.level.leaders);
  if (form == collective) return;
  const Specification runs = between_nodes(asked, form);
  if (runs.algorithm->name == asked.algorithm->name) return;
  communicator.note_algorithm(
      collective, decision.text,
      ", but between these nodes the call is " + std::string(name_of(form)) + ", which " +
          std::string(asked.algorithm->name) +
          " has no form for: " + std::string(runs.algorithm->name) + " runs there");
}

/// To be called in the call's turn. Runs what `describe_call(is_dummy, memory, hierarchical,
/// refused)` describes.
template <class Call, class Describe>
int run_described(const Call& call, bool valid, Communicator& communicator,
                  HierarchicalRunner& levels, HierarchicalCall& hierarchical, std::string& refused,
                  bool& is_native, Describe describe_call) {
  is_native = !valid;
  // Before ranks part by what their arguments tell them.
  int error = levels.prepare(hierarchical.call.leaders);
  if (error != MPI_SUCCESS) return error;
  const bool has_no_part =
      has_root(call.collective) && (call.root < 0 || call.root >= communicator.p());
  if (!valid && has_no_part) return MPI_SUCCESS;
  SideMemory memory(communicator.private_comm(error)->transport());
  const int described = describe_call(!valid, memory, hierarchical);
  if (!refused.empty())
    return described;  // a rank whose arguments are bad does not know, and takes part
  error = levels.run(hierarchical, refused);
  if (!refused.empty() || !valid) return error;
  if (error == MPI_SUCCESS) error = described;
  return error == MPI_SUCCESS ? memory.finish() : error;
}

}  // namespace

int run_hierarchical(GatherScatterCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native) {
  int error = MPI_SUCCESS;
  HierarchicalRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  const HierarchicalRunner::Turn turn(*levels);
  note_between(call.collective, decision, levels->node().nodes(), communicator);
  Between between(decision, communicator, *levels);
  if (const int failed = between.find_orders(epoch, call.root)) return failed;
  const bool valid =
      looks_valid(call, communicator) && communicator.private_comm(error)->learn_types(call);
  return run_described(call, valid, communicator, *levels, between.call(), refused, is_native,
                       [&](bool is_dummy, SideMemory& memory, HierarchicalCall& described) {
                         return describe(call, communicator.rank(), communicator.p(), is_dummy,
                                         memory, described);
                       });
}

int run_hierarchical(CollectiveCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native) {
  int error = MPI_SUCCESS;
  HierarchicalRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  const HierarchicalRunner::Turn turn(*levels);
  note_between(call.collective, decision, levels->node().nodes(), communicator);
  Between between(decision, communicator, *levels);
  if (const int failed = between.find_orders(epoch, call.root)) return failed;
  const bool valid = looks_valid(call, communicator) &&
                     communicator.private_comm(error)->collectives().learn_types(call);
  return run_described(call, valid, communicator, *levels, between.call(), refused, is_native,
                       [&](bool is_dummy, SideMemory& memory, HierarchicalCall& described) {
                         return describe(call, communicator.rank(), communicator.p(), is_dummy,
                                         memory, described, refused);
                       });
}

}  // namespace tutti
