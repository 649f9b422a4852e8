/// The commands gather, gatherv, scatter and scatterv: problems, contenders and their lines.
#pragma once

#include <memory>

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"
#include "core/distributions.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// A contender: the MPI's own on the communicator that TUTTI_Comm_reorder returns, whose ranks are
/// numbered by distance. Of exchanges (ExchangeWorkload) alone.
inline constexpr auto reordered_name = "native:reordered";

/// One problem of a run: what the options ask for, with this job's number of ranks.
struct Case {
  Distribution distribution = Distribution::same;
  Bytes block = 0;  ///< average elements of a rank
  int width = 0;    ///< bytes of an element
  Rank root = 0;
  std::vector<Bytes> blocks;  ///< elements of each rank
};

/// All problems of the options, in their sequence.
[[nodiscard]] std::vector<Case> cases_of(const Options& options, int p, Rank root);

[[nodiscard]] MPI_Datatype type_of(const Case& problem);
/// The row of a problem, without lines.
[[nodiscard]] Row row_of(const Case& problem, std::string collective);

/// The lines of measured calls. Ratios are to the contender called `native`; bounds where
/// `machine` is given: with the true arrivals of each call, receivers as if data could arrive
/// before them (eager messages may), and as a start-up's price the smaller of latency and gap,
/// so that they stay bounds where start-ups overlap. At rank 0.
[[nodiscard]] std::vector<Line> lines_of(const std::vector<Contender>& contenders,
                                         const std::vector<Calls>& calls, const Case& problem,
                                         const Machine* machine);

/// Measures all problems with all algorithms and reports each as it is done. `report` is null on
/// all ranks but 0. The error names a problem that MPI cannot express. Collective.
[[nodiscard]] Result<bool> run_table(const Bench& bench, Rank root, const Machine& machine,
                                     Report* report);

}  // namespace tutti::bench
