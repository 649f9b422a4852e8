/// The commands rma_bcast, rma_scatter, rma_gather and rma_reduce.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// Measures one-sided collectives, which only the root calls, by each algorithm, beside the MPI's
/// ordinary collective (native), which all ranks call. The time runs from the root's call until the
/// last rank has its data and the root knows it. The other ranks sleep, and poll for the operation
/// without MPI calls. Each line also has the times of LogP and LogGP on `machine`, as Paznikov 2024
/// compares them. Then measures the cost of an idle background thread, and of a tree level.
/// Collective.
[[nodiscard]] Result<bool> run_rma(const Bench& bench, Rank root, const Machine& machine,
                                   Report* report);

}  // namespace tutti::bench
