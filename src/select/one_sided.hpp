/// Choosing the algorithm of a one-sided collective: the root alone does, as its requests carry it.
#pragma once

#include "core/nodes.hpp"
#include "cost/node_machine.hpp"
#include "select/selection.hpp"

namespace tutti {

/// What a root knows of the machine.
struct OneSidedMachine {
  Machine between;               ///< ranks, or nodes where several ranks share one
  NodeMachine node = {};         ///< inside of them
  const Nodes* nodes = nullptr;  ///< null: each rank is alone on its node
};

/// The fastest candidate under LogGP with flushes and polling; where puts wait for their target's
/// thread (Machine::serving) all data travel in notifications. There is no MPI's own. Where ranks
/// share nodes, trees of their leaders are candidates too: what the same tree takes among so many
/// ranks as there are nodes, and the ranks of the largest node after that. O(p log p) and the parts
/// of pipelined candidates, on some thousands of ranks tenths of a second.
[[nodiscard]] Choice choose_one_sided(const Features& features, const OneSidedMachine& machine);

}  // namespace tutti
