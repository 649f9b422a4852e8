/// Decides whether a call uses node memory, and with how many leaders.
#pragma once

#include <string>
#include <vector>

#include "core/nodes.hpp"
#include "cost/hierarchical_times.hpp"
#include "select/selection.hpp"

namespace tutti {

/// The selection features of a call, which every rank knows to be equal.
struct HierarchicalFeatures {
  Collective collective = Collective::allgather;
  NodeShape shape;              ///< see shape_of
  std::optional<Bytes> block;   ///< as for best_flat_seconds; none if ranks do not know it
  bool keeps_order = true;      ///< the operation commutes, or ranks of a node are consecutive
  NodeShape least = shape;      ///< see min_shape_of
  double oversubscription = 0;  ///< ranks per core on the fullest node; 0: unknown
};

/// The shape of nodes as if each had the ranks of the largest one.
[[nodiscard]] NodeShape shape_of(const Nodes& nodes);
/// The same with the mean number of ranks per node, rounded down.
[[nodiscard]] NodeShape min_shape_of(const Nodes& nodes);

struct HierarchicalChoice {
  Level level;  ///< around the MPI's own collective, or flat
  std::string reason;
  std::vector<Candidate> candidates;  ///< by modelled time
};

/// Do all ranks know the block of such a call from their arguments? False if each one knows only
/// its own sizes.
[[nodiscard]] bool is_block_common(Collective collective);

/// The number of leaders per node with the least modelled time, at most 8, because each number
/// needs as many communicators. 1 if the block is unknown.
[[nodiscard]] int leaders_for(const HierarchicalFeatures& features, const NodeMachine& machine);

/// Selects node memory around the MPI's own collective if the model predicts a gain over the best
/// flat algorithm, which stands for the MPI's own: 10 % if node memory was measured (see
/// NodeMachine::oversubscription), else 50 %. Uneven nodes count with the ranks of the largest node
/// for node memory, and with their mean, rounded down, for flat. Calls stay flat also
///  - if ranks do not know the block, nothing moves, or nodes have fewer than 2 ranks on average;
///  - if an operation would lose its order;
///  - without a measurement, on one node, where messages use memory too, and with more ranks than
///    cores;
///  - with more ranks per core than at the measurement: a signal then takes a scheduler slice,
///    which cannot be predicted.
/// Equal on all ranks. O(log^2 p).
[[nodiscard]] HierarchicalChoice choose_hierarchical(const HierarchicalFeatures& features,
                                                     const NodeMachine& machine);

}  // namespace tutti
