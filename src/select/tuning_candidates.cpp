/// Points of the list, priced.
#include "select/tuning_candidates.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/problems.hpp"
#include "algorithms/staging.hpp"
#include "cost/pricing.hpp"

namespace tutti {

namespace {

constexpr double hopeless = 3;
constexpr double slow_network = 100;
constexpr int max_modelled_ranks = 64;
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

bool is_possible(const Specification& point, const TuningFeatures& features) {
  return !point.needs_arrivals() && !point.needs_distances() && point.runner == Runner::caller &&
         fits(point, features.p, bytes_of(features), features.staging);
}

bool may_share_nodes(const TuningFeatures& features) {
  return features.max_ranks_per_node > 1 && !features.is_flat;
}

std::vector<Specification> specifications(const TuningFeatures& features) {
  std::vector<Specification> all;
  const auto add = [&](const std::string& text) {
    const auto point = specification(features.collective, text);
    if (point && is_possible(*point, features)) all.push_back(*point);
  };
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective != features.collective) continue;
    const std::string name(algorithm.name);
    add(name);
    for (const int radix : {4, 8}) {
      if (algorithm.takes("k") && features.p > radix) add(name + ":k=" + std::to_string(radix));
    }
  }
  return all;
}

double seconds_of(const Specification& specification, const TuningFeatures& features,
                  const Machine& machine) {
  const auto ranks = static_cast<std::size_t>(std::min(features.p, max_modelled_ranks));
  const Call call{features.collective, 0, std::vector<Bytes>(ranks, features.block)};
  return *price(Problems(specification, call).schedules(), machine, PriceModel::loggp);
}

/// By the product of both times, so that neither network counts more.
std::vector<Priced> priced(const TuningFeatures& features, const Machine& machine) {
  Machine slow = machine;
  slow.per_byte *= slow_network;
  std::vector<Priced> all;
  for (const Specification& point : specifications(features)) {
    all.push_back({point, seconds_of(point, features, machine), seconds_of(point, features, slow)});
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

std::vector<Setting> tuning_candidates(const TuningFeatures& features, const Machine& machine) {
  const bool shares = may_share_nodes(features);
  std::vector<Setting> all = {{Setting::Kind::native, {}, {}}};
  for (const int leaders : leaders_tried) {
    if (!shares || leaders > features.max_ranks_per_node) continue;
    all.push_back({Setting::Kind::native, {}, Level{true, leaders}});
  }
  if (features.only_native) return all;
  const std::vector<Priced> flat = priced(features, machine);
  for (const Priced& one : flat) {
    all.push_back({Setting::Kind::forced, one.specification, {}});
  }
  if (shares && !flat.empty()) {
    all.push_back({Setting::Kind::forced, flat.front().specification, Level{true, 1}});
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
