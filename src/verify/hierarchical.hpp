/// Executes all ranks' hierarchical plans symbolically against the contract.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "core/nodes.hpp"
#include "schedule/hierarchical_plan.hpp"

namespace tutti {

/// A fault in a set of hierarchical plans.
struct HierarchicalFault {
  Rank rank = no_rank;
  int step = -1;     ///< of that rank; -1: no single step
  std::string text;  ///< names both
};

/// A call as hierarchical plans see it.
struct HierarchicalCase {
  Contract contract;             ///< vectors are one part
  std::span<const Bytes> sizes;  ///< of the contract's blocks
  Bytes unit = 1;                ///< bytes of an element
};

/// Executes the call twice in a row, after others that used all of the memory. Returns the first
/// fault, if any. Checks that
///  - every step stays within node memory and its buffer, and no byte of a receive buffer is
///    written twice;
///  - signals and data of inner calls order any two accesses to a byte of node memory of which one
///    writes. The order does not depend on timing, so one execution covers all interleavings;
///  - signals grow, all ranks of a node end on the same sequence number, and all steps complete,
///    although no inner call does before all its members have entered it;
///  - the members of an inner call agree on collective, root and counts, regular ones have equal
///    counts, and combined bytes are whole elements;
///  - no contribution is combined twice, nor out of order if the operation does not commute;
///  - in the end every rank has all bytes of the blocks that the contract requires.
/// Reductions are limited to 64 ranks. O(bytes of all ranks' steps).
[[nodiscard]] std::optional<HierarchicalFault> verify(const HierarchicalCase& call,
                                                      const Nodes& nodes,
                                                      std::span<const HierarchicalPlan> plans);

}  // namespace tutti
