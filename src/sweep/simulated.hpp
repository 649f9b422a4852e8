/// Simulates the time of one algorithm of the list on one call.
#pragma once

#include "algorithms/problems.hpp"
#include "simulate/simulate.hpp"

namespace tutti {

/// The parts of the time of a call, in seconds.
struct SimulatedSeconds {
  double knowledge = 0;  ///< until every rank has the knowledge for its schedule
  double data = 0;       ///< the schedules, all ranks arriving at once

  [[nodiscard]] double total() const { return knowledge + data; }
};

/// The time that `specification` takes for `call` on `machine`, each rank with one port, or as many
/// as the specification's `ports`. Trees use the machine's half-performance length, whatever `call`
/// has.
[[nodiscard]] SimulatedSeconds simulated_seconds(const Specification& specification, Call call,
                                                 const Machine& machine);

/// The successive start-ups, with a few words each, in which p ranks acquire the knowledge that
/// `specification` needs: none; ceil(log2 p) for the sizes of subtrees, and for an exchange of all
/// sizes; 2 ceil(log_b p) - 1 for a grown tree with b = ports + 1 (Träff 2017, Lemma 3), and
/// ceil(log_b p) more for promotions. The last two are upper bounds.
[[nodiscard]] int knowledge_rounds(const Specification& specification, int p);

}  // namespace tutti
