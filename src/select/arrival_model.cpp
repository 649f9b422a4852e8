/// Replays candidates with expected arrivals.
#include "select/arrival_model.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>
#include <span>
#include <string>

#include "select/replays.hpp"

namespace tutti {

namespace {

double spread_of(std::span<const double> arrivals) {
  if (arrivals.empty()) return 0;
  const auto [first, last] = std::minmax_element(arrivals.begin(), arrivals.end());
  return *last - *first;
}

Candidate native_candidate(const Features& features, const Machine& machine,
                           const Replays& replays) {
  const Forecast& forecast = *features.forecast;
  if (is_comparable(forecast.native, machine)) {
    return {"native", forecast.spread() + forecast.native, "the MPI's own, measured"};
  }
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::string& own :
       native_specifications(features.mpi, features.collective, features.p, *features.block)) {
    fastest = std::min(fastest, replays.seconds(own));
  }
  const bool is_known = features.mpi != MpiFamily::unknown;
  return {"native", fastest,
          is_known ? "the MPI's own, by its known rules"
                   : "the MPI's own, modelled as the better of linear and binomial"};
}

/// The numbers of late ranks to try with relay: those after the longest gap, and 25, 50 and 75 %.
std::set<int> late_counts(const Features& features) {
  std::vector<double> sorted = features.forecast->arrivals;
  const double root = sorted[static_cast<std::size_t>(features.root)];
  for (double& arrival : sorted) arrival = std::max(arrival, root);
  std::sort(sorted.begin(), sorted.end());
  std::size_t behind = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[behind] - sorted[behind - 1]) behind = i;
  }
  const int p = features.p;
  return {static_cast<int>(sorted.size() - behind), p / 4, p / 2, 3 * p / 4};
}

}  // namespace

double Forecast::spread() const { return spread_of(arrivals); }

bool are_apart(std::span<const double> arrivals, double error, const Machine& machine) {
  return arrivals.size() <= max_forecast_ranks &&
         spread_of(arrivals) > std::max(machine.latency, 2 * error);
}

bool is_comparable(double native, const Machine& machine) {
  constexpr double min_start_ups = 10;
  return native > min_start_ups * machine.latency && machine != Machine{};
}

bool weighs_arrivals(const Features& features, const Machine& machine) {
  if (!features.forecast || features.block.value_or(0) == 0) return false;
  const Forecast& forecast = *features.forecast;
  assert(forecast.arrivals.size() == static_cast<std::size_t>(features.p));
  return are_apart(forecast.arrivals, forecast.error, machine) ||
         (forecast.arrivals.size() <= max_forecast_ranks &&
          is_comparable(forecast.native, machine));
}

std::vector<Candidate> candidates_by_arrival(const Features& features, const Machine& machine) {
  const Replays replays(features, machine);
  const Forecast& forecast = *features.forecast;
  std::vector<Candidate> candidates = {native_candidate(features, machine, replays)};
  const auto add = [&](const std::string& text, bool predicted, const char* note) {
    candidates.push_back(
        {text, replays.seconds(text) + (predicted ? 2 * forecast.error : 0), note});
  };
  add("linear", false, "all in flight: ranks are served as they arrive");
  add("linear_pull", false, "ranks are served as they ask");
  // For irregular blocks only the mean is known. It suffices for linear shapes, but not for trees.
  const bool irregular = is_irregular(features.collective);
  if (!irregular && is_gather(features.collective)) {
    add("binomial:order=late_leaf", true, "late ranks are near the root");
  } else if (!irregular) {
    add("binomial:order=arrival", true, "late ranks are leaves");
    for (const int late : late_counts(features)) {
      if (late > 0) {
        add("relay:late=" + std::to_string(late), true, "early ranks deliver to the late ones");
      }
    }
  }
  if (forecast.progress_capability == ProgressCapability::none) return candidates;
  // Threads serve ranks on request, without a prediction and with few blocks in flight. In calls
  // that are not persistent a thread learns of a call by its announcement, so it cannot do so for
  // irregular blocks.
  if (forecast.progress_capability == ProgressCapability::runs || !irregular) {
    add("linear_pull:flight=4,runner=background", false, "threads serve ranks as they ask");
    candidates.back().is_robust = true;
  }
  add("linear:order=arrival,runner=background", true, "threads receive before their ranks arrive");
  if (forecast.progress_capability == ProgressCapability::receives || irregular) return candidates;
  const std::string tree = is_gather(features.collective) ? "late_leaf" : "arrival";
  add("binomial:order=" + tree + ",runner=background", true,
      "threads receive and forward before their ranks arrive");
  return candidates;
}

}  // namespace tutti
