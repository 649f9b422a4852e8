/// Whether a call goes through node memory, and with how many leaders.
#pragma once

#include <string>
#include <vector>

#include "choose/choose.hpp"
#include "core/nodes.hpp"
#include "cost/level_times.hpp"

namespace tutti {

/// What every rank of a call knows to be equal.
struct LevelSituation {
  Collective collective = Collective::allgather;
  NodeShape shape;             ///< see shape_of
  std::optional<Bytes> block;  ///< as for best_flat_seconds; none where ranks do not know it alike
  bool keeps_order = true;     ///< the operation commutes, or ranks of a node follow one another
};

/// Uneven nodes as even ones: as many, each of the largest one's ranks.
[[nodiscard]] NodeShape shape_of(const Nodes& nodes);

struct LevelChoice {
  Level level;  ///< around the MPI's own collective; flat: stay as you are
  std::string reason;
  std::vector<Candidate> candidates;  ///< by modelled time
};

/// Node memory around the MPI's own collective if the model promises a gain of a tenth over the
/// best flat algorithm, which stands for the MPI's own; with the number of leaders that takes the
/// least time. Flat where block sizes are not known alike, on one rank for each node, and where an
/// operation would lose its order. Every rank decides alike. O(log^2 p).
[[nodiscard]] LevelChoice choose_level(const LevelSituation& situation, const NodeMachine& machine);

}  // namespace tutti
