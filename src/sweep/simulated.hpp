/// One algorithm of the list on one call, in simulated time.
#pragma once

#include "algorithms/problems.hpp"
#include "simulate/simulate.hpp"

namespace tutti {

/// Where the time of a call goes, in seconds.
struct SimulatedSeconds {
  double knowledge = 0;  ///< until every rank knows what its schedule is built from
  double data = 0;       ///< the schedules, all ranks arriving at once

  [[nodiscard]] double total() const { return knowledge + data; }
};

/// The time that `specification` takes for `call` on `machine`, each rank with one port. Trees are
/// grown with the machine's half-performance length, whatever `call` says.
[[nodiscard]] SimulatedSeconds simulated_seconds(const Specification& specification, Call call,
                                                 const Machine& machine);

/// The start-ups, one after the other, in which ranks acquire what `specification` needs for p
/// ranks, each of a few words: none; ceil(log2 p) up the tree for the sizes of subtrees, and for
/// an exchange of all sizes; 2 ceil(log_b p) - 1 for a grown tree with b = ports + 1 (Träff 2017,
/// Lemma 3), and for promotions as many again down it. Both are upper bounds.
[[nodiscard]] int knowledge_rounds(const Specification& specification, int p);

}  // namespace tutti
