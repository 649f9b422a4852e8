/// Points of the list, priced.
#include "select/tuning_candidates.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/problems.hpp"
#include "algorithms/staging.hpp"
#include "cost/pricing.hpp"

namespace tutti {

namespace {

constexpr double hopeless = 3;
constexpr double slow_network = 100;
/// More would take longer to model than exploring the wrong one first costs.
constexpr int max_modelled_ranks = 16;
/// The same with late ranks, where other numbers of ranks show little.
constexpr std::size_t max_late_ranks = 128;
/// Of what a doubling of the ranks adds: no algorithm takes longer than in proportion to p squared.
constexpr double max_growth = 4;
constexpr int leaders_tried[] = {1, 2, 4};

struct Priced {
  Specification specification;
  double fast = 0;  ///< seconds
  double slow = 0;
};

/// Bytes of all blocks that a rank sends or receives.
Bytes bytes_of(const TuningFeatures& features) {
  const BlockKind kind = block_kind(features.collective);
  const bool has_blocks = kind == BlockKind::pairs || kind == BlockKind::ranks;
  return features.block * (has_blocks ? features.p : 1);
}

/// Threads cannot wait for the sizes of other ranks.
bool suits_threads(const Specification& point) {
  return !is_irregular(point.algorithm->collective) || point.knowledge() == Knowledge::nothing;
}

bool is_possible(const Specification& point, const TuningFeatures& features) {
  if (point.needs_arrivals() && !features.knows_arrivals) return false;
  if (point.runner == Runner::background && !(features.has_threads && suits_threads(point))) {
    return false;
  }
  return !point.needs_distances() && fits(point, features.p, bytes_of(features), features.staging);
}

bool may_share_nodes(const TuningFeatures& features) {
  return features.max_ranks_per_node > 1 && !features.is_flat &&
         can_be_hierarchical(features.collective);
}

std::vector<Specification> specifications(const TuningFeatures& features) {
  std::vector<Specification> all = useful_specifications(features.collective, features.p);
  std::erase_if(all, [&](const Specification& one) { return !is_possible(one, features); });
  return all;
}

double seconds_at(int p, const Specification& specification, const TuningFeatures& features,
                  const Machine& machine) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(p), features.block);
  const Call call{features.collective, 0, blocks};
  return *price(Problems(specification, call).schedules(), machine, PriceModel::loggp);
}

/// After the last arrival; not 0, so that times have ratios.
double seconds_after_last(const Specification& specification, const TuningFeatures& features,
                          const Machine& machine) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(features.p), features.block);
  Call call{features.collective, 0, blocks, machine.half_performance_length(), features.arrivals,
            1 / machine.per_byte};
  const auto [first, last] = std::minmax_element(call.arrivals.begin(), call.arrivals.end());
  const double zero = *first;
  const double spread = *last - zero;
  for (double& arrival : call.arrivals) arrival -= zero;
  const double seconds = *price(Problems(specification, call).schedules(), machine,
                                PriceModel::overlapped, call.arrivals);
  return std::max(seconds - spread, machine.latency / 8);
}

/// Many ranks by what 4, 8 and 16 take: each doubling adds so many times what the doubling before
/// added as the second of these added of what the first did. Exact for a logarithm, for p, and for
/// what does not depend on p.
double seconds_of(const Specification& specification, const TuningFeatures& features,
                  const Machine& machine) {
  const bool may_be_late = !features.arrivals.empty() && features.arrivals.size() <= max_late_ranks;
  if (may_be_late) return seconds_after_last(specification, features, machine);
  const auto at = [&](int p) { return seconds_at(p, specification, features, machine); };
  if (features.p <= max_modelled_ranks) return at(features.p);
  const double last = at(max_modelled_ranks);
  const double before = at(max_modelled_ranks / 2);
  const double added = last - before;
  const double added_before = before - at(max_modelled_ranks / 4);
  if (added <= 0 || added_before <= 0) return last;
  const double ratio = std::min(added / added_before, max_growth);
  const double doublings = std::log2(static_cast<double>(features.p) / max_modelled_ranks);
  const double sum = std::abs(ratio - 1) < 1e-6
                         ? doublings
                         : ratio * (std::pow(ratio, doublings) - 1) / (ratio - 1);
  return last + added * sum;
}

/// What needs no forecast, and whose threads serve few ranks at a time, suffers neither from wrong
/// forecasts nor from shared links. The model knows neither, and errs by this factor.
double handicap(const Specification& point) {
  return point.runner == Runner::background && !point.needs_arrivals() ? 1 : 1.5;
}

/// By the product of both times, so that neither network counts more.
std::vector<Priced> priced(const TuningFeatures& features, const Machine& machine) {
  Machine slow = machine;
  slow.per_byte *= slow_network;
  std::vector<Priced> all;
  for (const Specification& point : specifications(features)) {
    const double factor = handicap(point);
    all.push_back({point, factor * seconds_of(point, features, machine),
                   factor * seconds_of(point, features, slow)});
  }
  const auto least = [&all](double Priced::*seconds) {
    double found = all.front().*seconds;
    for (const Priced& one : all) found = std::min(found, one.*seconds);
    return found;
  };
  if (all.empty()) return all;
  const double fast = least(&Priced::fast);
  const double on_slow = least(&Priced::slow);
  std::erase_if(all, [&](const Priced& one) {
    return one.fast > hopeless * fast && one.slow > hopeless * on_slow;
  });
  std::stable_sort(all.begin(), all.end(), [](const Priced& a, const Priced& b) {
    return a.fast * a.slow < b.fast * b.slow;
  });
  return all;
}

}  // namespace

std::vector<Setting> hierarchical_candidates(Collective collective, int max_ranks_per_node) {
  std::vector<Setting> all;
  if (!can_be_hierarchical(collective)) return all;
  for (const int leaders : leaders_tried) {
    if (max_ranks_per_node == 1 || leaders > max_ranks_per_node) continue;
    all.push_back({Setting::Kind::native, {}, Level{true, leaders}});
  }
  return all;
}

std::vector<Setting> tuning_candidates(const TuningFeatures& features, const Machine& machine) {
  std::vector<Setting> hierarchical;
  if (!features.is_flat) {
    hierarchical = hierarchical_candidates(features.collective, features.max_ranks_per_node);
  }
  std::vector<Setting> flat;
  const std::vector<Priced> list =
      features.only_native ? std::vector<Priced>{} : priced(features, machine);
  for (const Priced& one : list) {
    flat.push_back({Setting::Kind::forced, one.specification, {}});
  }
  std::vector<Setting> all = {{Setting::Kind::native, {}, {}}};
  const auto add = [&](const std::vector<Setting>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  const bool is_flat_first = features.is_oversubscribed || features.knows_arrivals;
  add(is_flat_first ? flat : hierarchical);
  add(is_flat_first ? hierarchical : flat);
  if (!hierarchical.empty() && !flat.empty()) {
    const auto caller = std::find_if(list.begin(), list.end(), [](const Priced& one) {
      return one.specification.runner == Runner::caller;
    });
    if (caller != list.end()) {
      all.push_back({Setting::Kind::forced, caller->specification, Level{true, 1}});
    }
  }
  return all;
}

bool may_run(const Setting& kept, const TuningFeatures& features) {
  if (kept.asks_for_hierarchical()) {
    const int leaders = kept.level->leaders;
    if (!may_share_nodes(features) || leaders < 1 || leaders > features.max_ranks_per_node) {
      return false;
    }
  }
  if (kept.kind == Setting::Kind::native) return true;
  return !features.only_native && is_possible(kept.specification, features);
}

}  // namespace tutti
