/// Points of the list, priced.
#include "select/tuning_candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "algorithms/problems.hpp"
#include "algorithms/staging.hpp"
#include "cost/simulate.hpp"
#include "cost/traffic.hpp"

namespace tutti {

namespace {

constexpr double hopeless = 3;
/// More would take longer to model than exploring the wrong one first costs.
constexpr int max_modelled_ranks = 16;
constexpr int max_modelled_parts = 8;
/// The same with late ranks, where other numbers of ranks show little.
constexpr std::size_t max_late_ranks = 128;
/// Of what a doubling of the ranks adds: no algorithm takes longer than in proportion to p squared.
constexpr double max_growth = 4;
/// Nanoseconds for each rank that is modelled: 0.1 to 1.2 ms for 8 ranks, 0.3 to 3 ms for 16; with
/// orders by distance 5 to 15 ms for 128, 20 to 60 ms for 1,024. Reduces take longest.
constexpr double listing_per_rank = 1e5;
constexpr int leaders_tried[] = {1, 2, 4};

/// On the given network and on a slow one.
using Seconds = std::array<double, 2>;

struct Priced {
  Specification specification;
  Seconds seconds;
  double place = 0;  ///< the least one is explored first
};

/// What `last` becomes for `times` as many ranks, if each doubling adds `ratio` times what the one
/// before added; the last one added `added`. All ranks must sort alike, so it uses no function
/// whose last bit may depend on the processor.
double continued(double last, double added, double ratio, double times) {
  for (; times >= 2; times /= 2) last += added *= ratio;
  return last + added * ratio * (times - 1);
}

/// Bytes of all blocks that a rank sends or receives.
Bytes bytes_of(const Features& features) {
  const BlockKind kind = block_kind(features.collective);
  const bool has_blocks = kind == BlockKind::pairs || kind == BlockKind::ranks;
  return features.block * (has_blocks ? features.p : 1);
}

/// Threads cannot wait for the sizes of other ranks.
bool suits_threads(const Specification& point) {
  return !is_irregular(point.algorithm->collective) || point.knowledge() == Knowledge::nothing;
}

bool is_possible(const Specification& point, const Features& features) {
  if (point.needs_arrivals() && !features.knows_arrivals) return false;
  const bool has_threads = features.knows_arrivals && features.has_background;
  if (point.runner == Runner::background && !(has_threads && suits_threads(point))) return false;
  return !point.needs_distances() && fits(point, features.p, bytes_of(features), features.staging);
}

using Machines = std::array<Machine, 2>;

/// The roots that stand for all: an inner one for those of an order that begins with rank 0
/// whatever the root is. The program's own root is not known to be valid at all ranks.
std::vector<Rank> modelled_roots(const Specification& point, Collective collective, int p) {
  const bool has_inner = has_root(collective) && point.algorithm->order == "identity" && p > 2;
  return has_inner ? std::vector<Rank>{0, p / 2} : std::vector<Rank>{0};
}

/// In the mean over the roots.
Seconds seconds_at(int p, const Specification& point, Bytes block, Collective collective,
                   const Machines& machines) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(p), block);
  const std::vector<Rank> roots = modelled_roots(point, collective, p);
  Seconds mean = {};
  for (const Rank root : roots) {
    const Problems problems(point, Call{collective, root, blocks});
    const std::vector<Schedule> schedules = problems.schedules();
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double seconds = *price(schedules, machines[i], PriceModel::loggp);
      mean[i] += seconds / static_cast<double>(roots.size());
    }
  }
  return mean;
}

/// Many parts of a pipeline by what 4 and 8 of the same size take: each further part adds as much.
Seconds seconds_of_parts(int p, const Specification& point, const Features& features,
                         const Machines& machines) {
  const auto of = [&](const Specification& one, Bytes block) {
    return seconds_at(p, one, block, features.collective, machines);
  };
  if (!point.algorithm->takes("parts")) return of(point, features.block);
  const std::vector<Bytes> blocks(static_cast<std::size_t>(p), features.block);
  const int parts = Problems(point, Call{features.collective, 0, blocks}).schedule(0).parts;
  if (parts <= max_modelled_parts) return of(point, features.block);
  Specification fewer = point;
  const auto with = [&](int count) {
    fewer.parameters.parts = count;
    return of(fewer, std::max<Bytes>(count, features.block * count / parts));
  };
  const Seconds many = with(max_modelled_parts);
  const Seconds few = with(max_modelled_parts / 2);
  const double steps = 2.0 * (parts - max_modelled_parts) / max_modelled_parts;
  return {many[0] + steps * (many[0] - few[0]), many[1] + steps * (many[1] - few[1])};
}

/// After the last arrival; not 0, so that times have ratios.
double seconds_after_last(const Specification& specification, const Features& features,
                          const Machine& machine) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(features.p), features.block);
  Call call{features.collective, 0, blocks, machine.half_performance_length(), features.arrivals,
            1 / machine.per_byte};
  const auto [first, last] = std::ranges::minmax(call.arrivals);
  for (double& arrival : call.arrivals) arrival -= first;
  const double seconds = *price(Problems(specification, call).schedules(), machine,
                                PriceModel::overlapped, call.arrivals);
  return std::max(seconds - (last - first), machine.latency / 8);
}

bool models_late_ranks(const Features& features) {
  return !features.arrivals.empty() && features.arrivals.size() <= max_late_ranks;
}

/// Many ranks by what 4, 8 and 16 take: each doubling adds so many times what the doubling before
/// added as the second of these added of what the first did. Exact for p, for
/// what does not depend on p, and at powers of 2 for a logarithm.
Seconds seconds_of(const Specification& point, const Features& features, const Machines& machines) {
  if (models_late_ranks(features)) {
    return {seconds_after_last(point, features, machines[0]),
            seconds_after_last(point, features, machines[1])};
  }
  const auto at = [&](int p) { return seconds_of_parts(p, point, features, machines); };
  if (features.p <= max_modelled_ranks) return at(features.p);
  Seconds seconds = at(max_modelled_ranks);
  const Seconds half = at(max_modelled_ranks / 2);
  const Seconds quarter = at(max_modelled_ranks / 4);
  const double times = static_cast<double>(features.p) / max_modelled_ranks;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double added = seconds[i] - half[i];
    const double before = half[i] - quarter[i];
    if (added <= 0 || before <= 0) continue;
    seconds[i] = continued(seconds[i], added, std::min(added / before, max_growth), times);
  }
  return seconds;
}

/// What needs no forecast, and whose threads serve few ranks at a time, suffers neither from wrong
/// forecasts nor from shared links. The model knows neither, and errs by this factor.
double handicap(const Specification& point) {
  return point.runner == Runner::background && !point.needs_arrivals() ? 1 : 1.5;
}

/// Sorts by the product of both times, so that neither network counts more. What is wrong in the
/// price of one variant of an algorithm is wrong in those of the others, too, so each of them
/// counts as longer than the one before, and other algorithms come between.
void sort(std::vector<Priced>& all) {
  constexpr double for_each_variant = 1.5 * 1.5;
  for (Priced& one : all) one.place = one.seconds[0] * one.seconds[1];
  std::ranges::stable_sort(all, {}, &Priced::place);
  std::map<const Algorithm*, double> factors;
  for (Priced& one : all) {
    double& factor = factors.try_emplace(one.specification.algorithm, 1).first->second;
    one.place *= factor;
    factor *= for_each_variant;
  }
  std::ranges::stable_sort(all, {}, &Priced::place);
}

/// What is possible and not hopeless, in the sequence in which it is explored.
std::vector<Priced> priced(const Features& features, const Machine& machine) {
  const Machines machines = {machine, slow_network(machine)};
  std::vector<Priced> all;
  Seconds least = {INFINITY, INFINITY};
  for (const Specification& point : useful_specifications(features.collective, features.p)) {
    if (!is_possible(point, features)) continue;
    Seconds seconds = seconds_of(point, features, machines);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      seconds[i] *= handicap(point);
      least[i] = std::min(least[i], seconds[i]);
    }
    all.push_back({point, seconds});
  }
  std::erase_if(all, [&](const Priced& one) {
    return one.seconds[0] > hopeless * least[0] && one.seconds[1] > hopeless * least[1];
  });
  sort(all);
  return all;
}

}  // namespace

Machine slow_network(Machine machine) {
  machine.latency *= 20;
  machine.overhead *= 5;
  machine.gap *= 5;
  machine.per_byte *= 100;
  return machine;
}

std::vector<Setting> hierarchical_candidates(Collective collective, int ranks_per_node) {
  std::vector<Setting> all;
  if (!can_be_hierarchical(collective)) return all;
  for (const int leaders : leaders_tried) {
    if (ranks_per_node == 1 || leaders > ranks_per_node) continue;
    all.push_back({Setting::Kind::native, {}, Level{true, leaders}});
  }
  return all;
}

std::vector<Setting> tuning_candidates(const Features& features, const Machine& machine) {
  std::vector<Setting> hierarchical;
  if (!features.flat_only) {
    hierarchical = hierarchical_candidates(features.collective, features.ranks_per_node);
  }
  std::vector<Setting> flat;
  if (!features.native_only) {
    for (const Priced& one : priced(features, machine)) {
      flat.push_back({Setting::Kind::forced, one.specification, Level{}});
    }
  }
  std::vector<Setting> all = {flat_native};
  all.insert(all.end(), flat.begin(), flat.end());
  all.insert(features.knows_arrivals ? all.end() : all.begin() + 1, hierarchical.begin(),
             hierarchical.end());
  const auto caller = std::ranges::find(
      flat, Runner::caller, [](const Setting& one) { return one.specification.runner; });
  if (!hierarchical.empty() && caller != flat.end()) {
    all.push_back({Setting::Kind::forced, caller->specification, Level{true, 1}});
  }
  return all;
}

double cost_of_listing(const Features& features, bool by_distance) {
  const bool models_all = by_distance || models_late_ranks(features);
  return listing_per_rank * (models_all ? features.p : std::min(features.p, max_modelled_ranks));
}

std::vector<Specification> candidates_by_distance(const Features& features) {
  if (features.native_only) return {};
  std::vector<Specification> all = useful_specifications(features.collective, features.p);
  std::erase_if(all, [&](const Specification& one) {
    // Of more ranks a star stands for its rounds, whose time shows no order.
    const bool is_modelled = features.p <= max_exact_ranks || one.algorithm->shape != Shape::rounds;
    return !one.needs_distances() || !is_modelled ||
           !fits(one, features.p, bytes_of(features), features.staging);
  });
  return all;
}

double modelled_seconds(const Specification& specification, const Features& features,
                        const Machine& machine) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(features.p), features.block);
  const Problems problems(specification, Call{features.collective, 0, blocks});
  const bool is_pipelined = specification.algorithm->takes("parts");
  constexpr long max_messages = 1 << 17;  // some 0.3 s
  if (is_pipelined && long{features.p} * problems.schedule(0).parts > max_messages) {
    return seconds_of(specification, features, {machine, machine})[0];
  }
  return *price(problems.schedules(), machine, PriceModel::loggp);
}

bool may_run(const Setting& kept, const Features& features) {
  if (kept.asks_for_hierarchical()) {
    const int leaders = kept.level->leaders;
    const bool may_share_nodes = features.ranks_per_node > 1 && !features.flat_only &&
                                 can_be_hierarchical(features.collective);
    if (!may_share_nodes || leaders > features.ranks_per_node) return false;
  }
  if (kept.kind == Setting::Kind::native) return true;
  return !features.native_only && is_possible(kept.specification, features);
}

}  // namespace tutti
