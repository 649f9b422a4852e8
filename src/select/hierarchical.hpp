/// Whether a call goes through node memory, and with how many leaders.
#pragma once

#include <string>
#include <vector>

#include "core/nodes.hpp"
#include "cost/hierarchical_times.hpp"
#include "select/selection.hpp"

namespace tutti {

/// What every rank of a call knows to be equal.
struct HierarchicalFeatures {
  Collective collective = Collective::allgather;
  NodeShape shape;              ///< see shape_of
  std::optional<Bytes> block;   ///< as for best_flat_seconds; none where ranks do not know it alike
  bool keeps_order = true;      ///< the operation commutes, or ranks of a node follow one another
  NodeShape least = shape;      ///< see min_shape_of
  double oversubscription = 0;  ///< ranks to each core of the fullest node; 0: not known
};

/// Uneven nodes as even ones: as many, each of the largest one's ranks.
[[nodiscard]] NodeShape shape_of(const Nodes& nodes);
/// The same of as many ranks as nodes have on average, rounded down.
[[nodiscard]] NodeShape min_shape_of(const Nodes& nodes);

struct HierarchicalChoice {
  Level level;  ///< around the MPI's own collective; flat: stay as you are
  std::string reason;
  std::vector<Candidate> candidates;  ///< by modelled time
};

/// Do all ranks know the block of such a call from their arguments? Not where each one only knows
/// its own sizes.
[[nodiscard]] bool is_block_common(Collective collective);

/// The leaders of each node with which a call takes the least time, at most eight: each number
/// that occurs costs as many communicators. 1 where the block is not known.
[[nodiscard]] int leaders_for(const HierarchicalFeatures& features, const NodeMachine& machine);

/// Why the automatic choice leaves all calls of a collective flat, whatever the model says; empty
/// where it goes by that.
[[nodiscard]] std::string why_left_flat(Collective collective);

/// The numbers of leaders that are tried where the model finds `best` so many: one, two and four,
/// each at most as many as a node has ranks, as the model knows nothing of ranks that wait for a
/// core; of more than four `best` itself, four and two. `best` first, three at most.
[[nodiscard]] std::vector<int> leaders_to_try(int best, int max_ranks);

/// Node memory around the MPI's own collective if the model promises a gain over the best flat
/// algorithm, which stands for the MPI's own: of a tenth where node memory was measured (see
/// NodeMachine::oversubscription), of a half where it was not. Uneven nodes count as the larger
/// shape for node memory and as the lesser one for flat. Flat also
///  - where block sizes are not known alike, nothing is to be moved, or no two ranks share a node;
///  - where an operation would lose its order;
///  - unless it was measured, on one node, where messages take memory too, and with more ranks than
///    cores; and with more ranks to a core than at the measurement: a flag then takes the
///    scheduler's turn, which cannot be guessed.
/// Every rank decides alike. O(log^2 p).
[[nodiscard]] HierarchicalChoice choose_hierarchical(const HierarchicalFeatures& features,
                                                     const NodeMachine& machine);

}  // namespace tutti
