/// Between tuning cases and rules: keys, classes, merging and bounds.
#include "select/learned.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tutti {

namespace {

constexpr double nanoseconds_per_microsecond = 1e3;

double microseconds(Nanoseconds time) {
  return static_cast<double>(time) / nanoseconds_per_microsecond;
}

Nanoseconds nanoseconds(const std::optional<double>& microseconds) {
  return std::llround(microseconds.value_or(0) * nanoseconds_per_microsecond);
}

std::optional<RuleInterval> rule_interval(const std::optional<MedianInterval>& interval) {
  if (!interval) return {};
  return RuleInterval{microseconds(interval->least), microseconds(interval->most)};
}

std::optional<MedianInterval> kept_interval(const std::optional<RuleInterval>& interval) {
  if (!interval) return {};
  return MedianInterval{nanoseconds(interval->least), nanoseconds(interval->most),
                        RuleInterval::confidence};
}

NumberRange exactly(std::int64_t number) { return {number, number}; }

/// Is a known rule about the class of a learned one, on the same platform?
bool is_same_class(const Rule& known, const Rule& learned) {
  const Features features = {.collective = learned.collective,
                             .p = static_cast<int>(learned.p.most),
                             .block = learned.bytes.most,
                             .nodes = static_cast<int>(learned.nodes.most),
                             .ranks_per_node = static_cast<int>(learned.ranks_per_node.most)};
  return known.mpi == learned.mpi && known.version == learned.version &&
         known.network == learned.network && holds_for(known, features);
}

/// Adds a rule in place of those about the same class on the same platform.
void replace(Rules& rules, Rule learned) {
  std::erase_if(rules.all, [&](const Rule& known) { return is_same_class(known, learned); });
  rules.all.push_back(std::move(learned));
}

}  // namespace

Rule learned_rule(const Features& features, const Setting& use, const TuningEvidence& evidence) {
  const SizeClass size_class = class_of(features.block);
  Rule rule;
  rule.collective = features.collective;
  rule.p = exactly(features.p);
  rule.nodes = exactly(features.nodes);
  rule.ranks_per_node = exactly(features.ranks_per_node);
  rule.bytes = {size_class == 0 ? 0 : largest_of(size_class - 1) + 1, features.block};
  rule.use = use;
  rule.evidence.native_us = microseconds(evidence.native);
  rule.evidence.choice_us = microseconds(evidence.choice);
  rule.evidence.native_interval_us = rule_interval(evidence.native_interval);
  rule.evidence.choice_interval_us = rule_interval(evidence.choice_interval);
  rule.evidence.calls = evidence.calls;
  return rule;
}

void learn(Rules& rules, Rule learned) {
  const long calls = learned.evidence.calls.value_or(0);
  const bool is_better_known = std::ranges::any_of(rules.all, [&](const Rule& known) {
    return is_same_class(known, learned) && known.evidence.calls.value_or(0) > calls;
  });
  if (!is_better_known) replace(rules, std::move(learned));
}

Rules merged(Rules kept, const Rules& learned, const Platform& platform, const std::string& date,
             std::size_t max_bytes) {
  for (Rule rule : learned.all) {
    rule.mpi = platform.mpi.name;
    rule.version = platform.mpi.version;
    rule.network = platform.network;
    rule.evidence.date = date;
    replace(kept, std::move(rule));
  }
  std::erase_if(kept.all,
                [](const Rule& rule) { return rule.use.kind == Setting::Kind::automatic; });
  const std::size_t frame = to_text(Rules{}).size();
  std::size_t left = std::max(max_bytes + 1, frame) - frame;  // the last rule needs no comma
  auto first = kept.all.end();
  while (first != kept.all.begin()) {
    const std::size_t with_comma = to_text(Rules{{*(first - 1)}, {}}).size() - frame + 1;
    if (with_comma > left) break;
    left -= with_comma;
    --first;
  }
  kept.all.erase(kept.all.begin(), first);
  return kept;
}

Rules kept_for(Rules kept, int p, const Platform& platform) {
  std::erase_if(kept.all, [&](const Rule& rule) {
    return rule.p != exactly(p) || rule.mpi != platform.mpi.name ||
           rule.version != platform.mpi.version || rule.network != platform.network;
  });
  return kept;
}

TuningEvidence evidence_of(const Rule& kept) {
  const RuleEvidence& evidence = kept.evidence;
  return {kept.use.is_native() ? 0 : 1,
          nanoseconds(evidence.native_us),
          nanoseconds(evidence.choice_us),
          static_cast<int>(evidence.calls.value_or(0)),
          evidence.date,
          kept_interval(evidence.native_interval_us),
          kept_interval(evidence.choice_interval_us)};
}

bool holds_for(const Rule& kept, const Features& features) {
  return matches(kept, features) && kept.bytes.contains(features.block);
}

SizeClass class_by_mean(SizeClass found, SizeClass latest, std::optional<SizeClass> before,
                        const std::function<bool(SizeClass)>& is_kept) {
  const auto is_close = [found](SizeClass other) { return std::abs(found - other) <= 1; };
  if (before) return is_close(latest) || !is_close(*before) ? latest : found;
  for (const SizeClass near : {found, found - 1, found + 1})
    if (is_kept(near)) return near;
  return found;
}

}  // namespace tutti
