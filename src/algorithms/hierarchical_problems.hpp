/// Lowers hierarchical calls from global data, for verifiers, simulators and tests.
#pragma once

#include <span>
#include <vector>

#include "algorithms/problems.hpp"
#include "lowering/hierarchical.hpp"

namespace tutti {

// With the option `in_place`, all ranks that may pass MPI_IN_PLACE do.

/// The call as the ranks of `node` know it, none in place; sizes that they do not know are -1.
[[nodiscard]] HierarchicalProblem hierarchical_problem(const Call& call, const Nodes& nodes,
                                                       int node,
                                                       const HierarchicalOptions& options);

/// Is the data of a rank's hierarchical call in place, if the caller passes MPI_IN_PLACE wherever
/// it may? A reduce_scatter takes its vector from elsewhere then.
[[nodiscard]] bool keeps_in_place(const Call& call, Rank rank);

/// The programs of all ranks, or the reason why the call must stay flat.
[[nodiscard]] Result<std::vector<Program>> hierarchical_programs(
    const Call& call, const Nodes& nodes, const HierarchicalOptions& options);

/// The number of chunks that keeps every node within `bound` bytes, or the reason why the call must
/// stay flat.
[[nodiscard]] Result<int> agreed_chunks(const Call& call, const Nodes& nodes,
                                        const HierarchicalOptions& options, Bytes bound);

/// The inner calls of all lanes, lane by lane, each as a call whose ranks are nodes. `unit` is that
/// of the call.
[[nodiscard]] std::vector<Call> inner_calls(std::span<const Program> programs, const Nodes& nodes,
                                            Bytes unit);

}  // namespace tutti
