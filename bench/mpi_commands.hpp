/// The commands that measure. All are collective; `report` is null on all ranks but 0.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/output_file.hpp"
#include "bench/report.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// Measures all problems with all algorithms, and reports each when it is complete. The error names
/// a problem that MPI cannot express.
[[nodiscard]] Result<bool> run_table(const Bench& bench, Rank root, const Machine& machine,
                                     Report* report);

/// Measures both sides of the guidelines (Träff 2017, section 4) for the MPI library and for
/// Tutti, on the same data in the same run: (1) Gather <= Gatherv for equal blocks, (2) Gatherv
/// <= Allreduce(1) + Gather with all blocks padded to the largest. Prints the paper's table, with a
/// "!" after a median that significantly breaks its guideline (95 % interval of the ratio of
/// medians above 1), and then each such case.
[[nodiscard]] Result<bool> run_guidelines(const Bench& bench, Rank root, Report* report);

/// Measures one-sided collectives, which only the root calls, by each algorithm, beside the MPI's
/// ordinary collective (native), which all ranks call. The time runs from the root's call until the
/// last rank has its data and the root knows it. The other ranks sleep, and poll for the operation
/// without MPI calls. Each line also has the times of LogP and LogGP on `machine`, as Paznikov 2024
/// compares them. Then measures the cost of an idle background thread, and of a tree level.
[[nodiscard]] Result<bool> run_rma(const Bench& bench, Rank root, const Machine& machine,
                                   Report* report);

/// Measures allgathers with private results, the MPI's and hierarchical, beside
/// TUTTI_Allgather_shared, read-only and copy-on-write. Times cover the call and a first use of the
/// result; memory is the increase while ranks hold it. An error if memory cannot be measured.
[[nodiscard]] Result<bool> run_shared(const Bench& bench, Report* report);

/// Measures the peak memory of a rank in one call of each algorithm, without the program's buffers,
/// and prints it beside the bound of the list. Buffers are touched before.
[[nodiscard]] Result<bool> run_memory(const Bench& bench, Report* report);

/// Measures the overhead of calls through Tutti. First calls that Tutti forwards to the MPI, on
/// MPI_COMM_SELF: through TUTTI_Gatherv, and through MPI_Gatherv if Tutti is preloaded. Then, with
/// 2 ranks or more, collectives of 8 bytes.
void run_latency(const Bench& bench, Report* report);

/// Measures the distances between all ranks; rank 0 writes them to its `output`, and prints the
/// duration. The error is the MPI's code, or says why they cannot be written.
[[nodiscard]] Result<bool> run_distances(const Job& job, const Options& options,
                                         OutputFile& output);

}  // namespace tutti::bench
