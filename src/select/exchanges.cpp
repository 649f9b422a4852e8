/// Selection for collectives other than gathers, scatters and reductions.
#include "select/exchanges.hpp"

#include <algorithm>

#include "protocols/growth.hpp"
#include "select/arrival_model.hpp"
#include "select/replays.hpp"

namespace tutti {

namespace {

/// With more ranks, replays would take too long: an allgather has p^2 messages.
constexpr int max_exchanged_ranks = 128;

struct Point {
  const char* specification;
  bool in_background;
  bool predicted;
  const char* note;
};

/// The algorithms of MPI libraries; the best one models native.
std::vector<const char*> baselines(Collective collective) {
  if (collective == Collective::bcast) return {"binomial", "scatter_allgather"};
  return {"recursive_doubling", "bruck", "ring"};
}

std::vector<Point> points(Collective collective) {
  if (collective == Collective::bcast) {
    return {{"linear_pull", false, false, "ranks are served as they ask"},
            {"earliest", false, true, "earlier ranks are served first"},
            {"binomial:order=arrival,runner=background", true, true,
             "threads receive and forward before their ranks arrive"}};
  }
  return {{"sync_bcast:order=arrival,runner=background", true, true, "BSLB of Proficz 2021"},
          {"ring:runner=background", true, false, "BDR of Proficz 2021"},
          {"broadcasts:runner=background", true, false, "each block along its own tree"}};
}

/// The algorithm that replaces an MPI that busy-waits: few rounds and minimal volume.
struct StandIn {
  const char* specification;
  double start_ups;  ///< sequential start-ups
};

StandIn stand_in(Collective collective, int p) {
  const double rounds = Growth{p, 0, {}, 0}.levels();
  switch (collective) {
    case Collective::bcast:
      return {"binomial", rounds};
    case Collective::allgather:
    case Collective::allgatherv:
      return {"bruck", rounds};
    case Collective::barrier:
      return {"dissemination", rounds};
    default:
      return {"linear", static_cast<double>(p - 1)};
  }
}

}  // namespace

Choice choose_beside_spinning(const Features& features, const Machine& machine) {
  if (features.block.value_or(0) > max_stand_in_block) {
    return {std::nullopt, "the block is too large for busy-waiting to matter", {}};
  }
  const StandIn ours = stand_in(features.collective, features.p);
  const double seconds = ours.start_ups * machine.latency;
  Choice choice;
  choice.candidates = {{ours.specification, seconds, "start-ups one after the other"},
                       {"native", seconds + spinning_seconds,
                        "modelled as equal; busy-waits on oversubscribed cores"}};
  const bool gains = seconds * 1.1 < seconds + spinning_seconds;
  if (gains) choice.specification = *specification(features.collective, ours.specification);
  choice.reason =
      gains ? "native busy-waits on oversubscribed cores" : "predicted speedup below 10 %";
  return choice;
}

Choice choose_exchange(const Features& features, const Machine& machine) {
  Choice choice;
  choice.reason = "no measurement shows a faster algorithm";
  const Collective collective = features.collective;
  const bool exchanges = collective == Collective::allgather;
  const bool modelled = exchanges ? features.p <= max_exchanged_ranks
                                  : collective == Collective::bcast &&
                                        static_cast<std::size_t>(features.p) <= max_forecast_ranks;
  if (!modelled || features.p == 1 || features.block.value_or(0) == 0) return choice;
  const Replays replays(features, machine);
  double native = replays.seconds(baselines(collective).front());
  for (const char* text : baselines(collective)) native = std::min(native, replays.seconds(text));
  choice.candidates.push_back(
      {"native", native, "the MPI's own, modelled as the best of the usual algorithms"});
  if (!weighs_arrivals(features, machine)) return choice;
  const Forecast& forecast = *features.forecast;
  for (const Point& point : points(collective)) {
    if (point.in_background && forecast.progress_capability == ProgressCapability::none) continue;
    const double error = point.predicted ? 2 * forecast.error : 0;
    choice.candidates.push_back(
        {point.specification, replays.seconds(point.specification) + error, point.note});
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  const Candidate& best = choice.candidates.front();
  // The gain does not include the wait for the last rank, which no algorithm avoids.
  const double waited = forecast.spread();
  if ((best.seconds - waited) * 1.1 < native - waited) {
    choice.reason = best.name + " is predicted to be faster but runs on request only";
  }
  return choice;
}

}  // namespace tutti
