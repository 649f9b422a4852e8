/// Selects algorithms by modelled time.
#include "select/selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "protocols/growth.hpp"
#include "select/arrival_model.hpp"
#include "select/one_sided.hpp"
#include "select/reductions.hpp"

namespace tutti {

namespace {

/// The minimum gains over the MPI's own: of the time after the last arrival, which an algorithm can
/// reduce, and of the whole time.
constexpr double min_gain = 1.1;
constexpr double min_gain_in_all = 1.01;
/// The minimum gain over a robust candidate: the observed error of the model.
constexpr double min_gain_over_robust = 1.5;

double rounds_of(int p) { return Growth{p, 0, {}, 0}.levels(); }

/// Construction of the tree and verdicts, one latency for each step (Träff 2017, Theorem 1).
double grown_seconds(const Features& features, const Machine& machine) {
  return std::max(0.0, 3 * rounds_of(features.p) - 1) * machine.latency;
}

/// True if `best` gains over `other`. No algorithm ends before the last arrival, `inevitable`
/// seconds after the first.
bool gains(const Candidate& best, const Candidate& other, double inevitable,
           double least = min_gain) {
  const double own = std::max(0.0, best.seconds - inevitable);
  return own * least < other.seconds - inevitable && best.seconds * min_gain_in_all < other.seconds;
}

/// A robust candidate that is nearly as fast as `fastest`, else `fastest`, which gains over native.
/// The model omits wrong forecasts and links shared by many senders, which do not harm a robust
/// candidate.
const Candidate& robust_or(const Candidate& fastest, const std::vector<Candidate>& sorted,
                           const Candidate& native, double inevitable) {
  const auto robust = std::find_if(sorted.begin(), sorted.end(), [](const Candidate& one) {
    return one.is_robust && !one.has_lost;
  });
  const bool as_good = robust != sorted.end() && robust->seconds < native.seconds &&
                       !gains(fastest, *robust, inevitable, min_gain_over_robust);
  return as_good ? *robust : fastest;
}

/// Marks the candidates that were measured to be no faster than native; marks all after
/// `max_choices` of them. Returns the number of measured ones.
std::ptrdiff_t note_losses(std::vector<Candidate>& candidates, const Features& features) {
  const auto& lost = features.forecast->lost;
  const std::ptrdiff_t count = std::find(lost.begin(), lost.end(), ran_native) - lost.begin();
  for (Candidate& candidate : candidates) {
    if (count == 0 || candidate.name == "native") continue;
    const AlgorithmId id = digest_of(*specification(features.collective, candidate.name));
    const bool measured = std::find(lost.begin(), lost.end(), id) != lost.end();
    candidate.has_lost = measured || lost.back() != ran_native;
    if (measured) candidate.note += "; measured no faster than native";
  }
  return count;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

/// The ordered tree with late ranks: the construction waits for all ranks. It cannot run in the
/// background, because threads cannot wait for sizes.
Candidate grown_after_all(const Features& features, const Machine& machine) {
  const double bytes = static_cast<double>(*features.block) * (features.p - 1);
  return {"ordered_tree",
          features.forecast->spread() + grown_seconds(features, machine) + bytes * machine.per_byte,
          "after the last rank, 3 ceil(log2 p) - 1 start-ups, and the data"};
}

std::vector<Candidate> by_modelled_time(const Features& features, const Machine& machine) {
  std::vector<Candidate> candidates = candidates_by_arrival(features, machine);
  if (is_irregular(features.collective)) {
    candidates.push_back(grown_after_all(features, machine));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return candidates;
}

}  // namespace

std::string out_of_reach(const Setting& setting, bool has_distances) {
  const bool needed =
      setting.kind == Setting::Kind::forced && setting.specification.needs_distances();
  if (!needed || has_distances) return "";
  return "order=" + std::string(name_of(setting.specification.order)) +
         " needs measured distances: set TUTTI_DISTANCES to a file of tutti map --mpirun";
}

Choice choose(const Setting& setting, const Features& features, const Machine& machine) {
  const bool one_sided = is_one_sided(features.collective);
  if (reduces(features.collective) && !one_sided) return choose_reduction(setting, features);
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested", {}};
  if (setting.kind == Setting::Kind::forced) return {setting.specification, "requested", {}};
  if (features.p == 1) return {std::nullopt, "the communicator has a single rank", {}};
  if (one_sided) return choose_one_sided(features, {machine});
  const bool by_arrivals =
      is_gather_or_scatter(features.collective) && weighs_arrivals(features, machine);
  if (!by_arrivals) return {std::nullopt, "no measurement shows a faster algorithm", {}};
  Choice choice;
  const bool is_measured = is_comparable(features.forecast->native, machine);
  choice.candidates = by_modelled_time(features, machine);
  if (is_measured && features.forecast->native_is_due) {
    choice.reason = "its time is measured again";
    return choice;
  }
  const std::ptrdiff_t losses = is_measured ? note_losses(choice.candidates, features) : 0;
  const Candidate& native =
      *std::find_if(choice.candidates.begin(), choice.candidates.end(),
                    [](const Candidate& candidate) { return candidate.name == "native"; });
  const double inevitable = features.forecast->spread();
  const Candidate& fastest =
      *std::find_if(choice.candidates.begin(), choice.candidates.end(),
                    [](const Candidate& candidate) { return !candidate.has_lost; });
  if (!gains(fastest, native, inevitable)) {
    choice.reason = std::string("predicted speedup ") +
                    (losses > 0 ? "of untried candidates " : "") +
                    "below 10 % (MPI's own: " + microseconds(native.seconds) + ")";
    return choice;
  }
  const Candidate& best = robust_or(fastest, choice.candidates, native, inevitable);
  choice.specification = *specification(features.collective, best.name);
  choice.reason = "predicted " + microseconds(best.seconds) +
                  " with late ranks (MPI's own: " + (is_measured ? "measured " : "") +
                  microseconds(native.seconds) + ")";
  return choice;
}

}  // namespace tutti
