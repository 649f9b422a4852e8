/// Selection for one-sided collectives. Only the root selects; its requests carry the algorithm.
#pragma once

#include "core/nodes.hpp"
#include "cost/machine.hpp"
#include "select/selection.hpp"

namespace tutti {

/// The machine parameters of a root.
struct OneSidedMachine {
  Machine between;               ///< between nodes, or between ranks if each has its own node
  NodeMachine node = {};         ///< inside nodes
  const Nodes* nodes = nullptr;  ///< null: each rank is alone on its node
};

/// The fastest candidate under LogGP with flushes and polling. If puts wait for their target's
/// thread (Machine::serving), notifications carry all data. MPI has no such collective, so native
/// is not a candidate. If ranks share nodes, trees of leaders are candidates too; their time is
/// that of the tree among one rank per node, plus that of serving the largest node. O(p log p) and
/// the parts of pipelined candidates: some 0.1 s for thousands of ranks.
[[nodiscard]] Choice choose_one_sided(const Features& features, const OneSidedMachine& machine);

}  // namespace tutti
