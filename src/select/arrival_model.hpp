/// The modelled time of calls with late ranks, and the tests that decide whether it is used.
#pragma once

#include <span>

#include "select/selection.hpp"

namespace tutti {

/// True if the spread of the arrivals exceeds a start-up and twice the forecast's error. An order
/// by wrong arrivals may be that much worse than the best one (1|r_j|Cmax with wrong release
/// dates). False for more than `max_forecast_ranks` ranks, because replays would take too long.
[[nodiscard]] bool are_apart(std::span<const double> arrivals, double error,
                             const Machine& machine);
/// True if the measured time of the MPI's own (NaN: not measured) can be compared with the model:
/// it is well above the error of clocks, and the machine was measured too.
[[nodiscard]] bool is_comparable(double native, const Machine& machine);
/// True if the selection uses the forecast: one of the two tests holds and blocks are not empty.
[[nodiscard]] bool weighs_arrivals(const Features& features, const Machine& machine);
inline constexpr std::size_t max_forecast_ranks = 1024;

/// The candidates: native first, then Tutti's algorithms, simplest first. Their times are those of
/// a replay (select/replays.hpp) with the expected arrivals, counted from the first one. Native has
/// its measured time if that is comparable, else the best time of its models
/// (select/native_model.hpp). Candidates that use the forecast have twice its error added.
/// O(p log p).
[[nodiscard]] std::vector<Candidate> candidates_by_arrival(const Features& features,
                                                           const Machine& machine);

}  // namespace tutti
