/// All ranks' level plans, executed symbolically against the contract.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "core/nodes.hpp"
#include "schedule/hierarchical_plan.hpp"

namespace tutti {

/// What is wrong with a set of level plans.
struct HierarchicalFault {
  Rank rank = no_rank;
  int step = -1;     ///< of that rank; -1 when no step of it is to blame
  std::string text;  ///< a sentence that names both
};

/// A call as level plans see it.
struct HierarchicalCase {
  Contract contract;             ///< vectors are one part
  std::span<const Bytes> sizes;  ///< of the contract's blocks
  Bytes unit = 1;                ///< of an element
};

/// Executes the call twice in a row, after others that used all of the memory. The first fault, if
/// any. It holds that
///  - every step stays within node memory and within its side, and no byte of a receive side is
///    written twice;
///  - two ranks that touch a byte of node memory, one of them to write, do so in an order that
///    signals and data moved by inner calls enforce. The order does not depend on timing, so that
///    one execution stands for all;
///  - signals grow, all ranks of a node end on the same sequence, and all steps complete, though no
///  inner
///    call does before all its members are in it;
///  - the members of an inner call agree on collective, root and counts, regular ones have equal
///    counts, and combined bytes are whole elements;
///  - no contribution is combined twice, nor out of order if the operation does not commute;
///  - in the end every rank has all bytes of the blocks that the contract wants there.
/// Reductions are for at most 64 ranks. O(bytes of all ranks' steps).
[[nodiscard]] std::optional<HierarchicalFault> verify(const HierarchicalCase& call,
                                                      const Nodes& nodes,
                                                      std::span<const HierarchicalPlan> plans);

}  // namespace tutti
