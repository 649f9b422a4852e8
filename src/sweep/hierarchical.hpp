/// Sweeps hierarchical programs exhaustively: every collective on every shape of nodes.
#pragma once

#include <optional>

#include "algorithms/hierarchical_problems.hpp"
#include "sweep/sweep.hpp"
#include "verify/program.hpp"

namespace tutti {

/// The first fault of the programs for `call`, if any; see ProgramVerifier::verify.
[[nodiscard]] std::optional<Flaw> check(ProgramVerifier& verifier, const Call& call,
                                        const Nodes& nodes, const HierarchicalOptions& options,
                                        std::span<const Program> programs, std::uint64_t seed);

/// Verifies the programs of `collective` for every distribution of up to `max_p` ranks over nodes,
/// mapped in blocks, round-robin and shuffled, and for some shapes of up to 2 max_p + 1 ranks, some
/// with groups. Covers every root, up to 4 leaders, 8 if a node has as many ranks, 1 to 3 chunks,
/// with and without MPI_IN_PLACE and direct use of the ranks' buffers, and operations that commute
/// and that do not; sizes alternate. A call must be refused exactly if an operation does not
/// commute and ranks of a node are not consecutive. Then verifies each inner call with the
/// schedules of every algorithm. Takes seconds for `max_p` 5.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, int max_p = 5);
/// The same on one shape.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, const Nodes& nodes);

}  // namespace tutti
