/// What a call takes when its ranks arrive apart: the gate before points that make use of that.
#pragma once

#include <span>

#include "select/selection.hpp"

namespace tutti {

/// Ranks are expected further apart than a start-up and than twice the forecast's error, by which
/// an order that it gives may be worse than the best one (1|r_j|Cmax with wrong release dates).
/// From `max_forecast_ranks` on a replay for each forecast would take too long.
[[nodiscard]] bool are_apart(std::span<const double> arrivals, double error,
                             const Machine& machine);
/// What the MPI's own was measured to take, NaN where it was not, can be held against the model:
/// it is well above the error of clocks, and the machine has been measured too.
[[nodiscard]] bool is_comparable(double native, const Machine& machine);
/// The forecast counts: either is so, and there is something to exchange.
[[nodiscard]] bool weighs_arrivals(const Features& features, const Machine& machine);
inline constexpr std::size_t max_forecast_ranks = 1024;

/// Native first, then Tutti's points, those that need least first; each priced by a replay
/// (select/replays.hpp) with the expected arrivals, from the first of them on. Native is what was
/// measured, if that is comparable, else the best of what stands for it
/// (select/native_model.hpp). Points that rely on the forecast are charged twice its error. O(p log
/// p).
[[nodiscard]] std::vector<Candidate> candidates_by_arrival(const Features& features,
                                                           const Machine& machine);

}  // namespace tutti
