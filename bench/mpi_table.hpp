/// The problems of collectives of the MPI, their rows and lines.
#pragma once

#include <memory>

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"
#include "core/distributions.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// The name of a contender: the MPI's own on the communicator of TUTTI_Comm_reorder, whose ranks
/// are numbered by distance. Not for gathers, scatters and reductions.
inline constexpr auto reordered_name = "native:reordered";

/// One problem of a run, from the options and the number of ranks.
struct Case {
  Distribution distribution = Distribution::same;
  Bytes block = 0;  ///< mean elements of a rank
  int width = 0;    ///< bytes of an element
  Rank root = 0;
  std::vector<Bytes> blocks;  ///< elements of each rank
};

/// All problems of the options, in their order.
[[nodiscard]] std::vector<Case> cases_of(const Options& options, int p, Rank root);

[[nodiscard]] MPI_Datatype type_of(const Case& problem);
/// The row of a problem, without lines.
[[nodiscard]] Row row_of(const Case& problem, std::string collective);

/// The lines of measured calls. Ratios compare with the contender `native`. With a `machine`, lines
/// have lower bounds for the actual arrivals of each call. The bounds allow data to arrive before
/// its receiver, as eager messages do, and a start-up costs the smaller of latency and gap, because
/// start-ups may overlap. At rank 0.
[[nodiscard]] std::vector<Line> lines_of(const std::vector<Contender>& contenders,
                                         const std::vector<Calls>& calls, const Case& problem,
                                         const Machine* machine);

}  // namespace tutti::bench
