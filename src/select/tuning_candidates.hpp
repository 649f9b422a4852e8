/// Which candidates a tuner explores for calls of a class, and in which sequence.
#pragma once

#include <vector>

#include "core/nodes.hpp"
#include "cost/machine.hpp"
#include "select/selection.hpp"

namespace tutti {

/// The MPI's own between nodes with 1, 2 and 4 leaders, where so many ranks share a node and the
/// collective has a hierarchical form.
[[nodiscard]] std::vector<Setting> hierarchical_candidates(Collective collective,
                                                           int ranks_per_node);

/// The other network by which candidates are sorted, beside the built-in numbers, which are those
/// of a fast one, about as slow as TCP over Ethernet. A round costs more beside a message there.
[[nodiscard]] Machine slow_network(Machine machine);

/// The MPI's own first. Then it between nodes (see hierarchical_candidates). Then the useful
/// specifications of the list by modelled time, where what runs in the background without a
/// forecast may take 1.5 times as long, and the fastest one of these between nodes. With an
/// exchange of arrivals the list comes before node memory, which waits for late ranks. Left out:
/// what depends on distances, on arrivals that are not exchanged, or on threads that there are not;
/// what may stage more than `staging`; and what the model predicts to take 3 times as long as the
/// fastest one after the last arrival, on both a fast network, `machine`, and its slow_network().
/// More than 16 ranks are extrapolated from 4, 8 and 16, unless arrivals of at most 128 are known.
/// O(number of algorithms * messages of so many ranks).
[[nodiscard]] std::vector<Setting> tuning_candidates(const Features& features,
                                                     const Machine& machine);

/// What listing candidates is expected to take, in nanoseconds: tuning_candidates, and where orders
/// are known `by_distance`, to find out which one gains. O(1).
[[nodiscard]] double cost_of_listing(const Features& features, bool by_distance);

/// The useful specifications of the list that need distances and may run, in the sequence of the
/// list; their orders gain where a model says so (gaining_by_distance).
[[nodiscard]] std::vector<Specification> candidates_by_distance(const Features& features);

/// The modelled time of a call. A pipeline of more than 131,072 messages is extrapolated in the
/// same way, and from 4 and 8 parts. O(messages).
[[nodiscard]] double modelled_seconds(const Specification& specification, const Features& features,
                                      const Machine& machine);

/// May such calls run what an earlier run selected for them? Says nothing about its time, so that
/// it costs less than tuning_candidates. O(1).
[[nodiscard]] bool may_run(const Setting& kept, const Features& features);

}  // namespace tutti
