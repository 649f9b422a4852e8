/// Between tuning cases and rules: keys, classes, merging and bounds.
#include "select/learned.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/nearest.hpp"

namespace tutti {

namespace {

constexpr double nanoseconds_per_microsecond = 1e3;

double microseconds(Nanoseconds time) {
  return static_cast<double>(time) / nanoseconds_per_microsecond;
}

Nanoseconds nanoseconds(const std::optional<double>& microseconds) {
  return std::llround(microseconds.value_or(0) * nanoseconds_per_microsecond);
}

NumberRange exactly(std::int64_t number) { return {number, number}; }

bool is_of(const Rule& kept, const Platform& platform) {
  return kept.mpi == platform.mpi.name && kept.version == platform.mpi.version &&
         kept.evidence.network == platform.network;
}

Rule rule_of(const LearnedClass& learned, const Platform& platform, const std::string& date) {
  const Features& features = learned.features;
  const SizeClass size_class = class_of(features.block);
  Rule rule;
  rule.collective = features.collective;
  rule.p = exactly(features.p);
  rule.nodes = exactly(features.nodes);
  rule.ranks_per_node = exactly(features.ranks_per_node);
  rule.bytes = {size_class == 0 ? 0 : largest_of(size_class - 1) + 1, features.block};
  rule.mpi = platform.mpi.name;
  rule.version = platform.mpi.version;
  rule.use = *learned.use;
  rule.evidence.native_us = microseconds(learned.evidence.native);
  rule.evidence.choice_us = microseconds(learned.evidence.choice);
  rule.evidence.calls = learned.evidence.calls;
  rule.evidence.network = platform.network;
  rule.evidence.date = date;
  return rule;
}

}  // namespace

Result<Learning> learning(std::string_view text) {
  if (text == "off") return Learning::off;
  if (text == "run") return Learning::run;
  if (text == "keep") return Learning::keep;
  return Error{"expected off, run or keep" + did_you_mean(text, {"off", "run", "keep"})};
}

void Learned::add(const LearnedClass& learned) {
  std::erase_if(
      all_, [&learned](const LearnedClass& known) { return known.features == learned.features; });
  all_.push_back(learned);
}

Rules Learned::merged(const Rules& kept, const Platform& platform, const std::string& date,
                      std::size_t max_bytes) const {
  Rules merged;
  std::ranges::remove_copy_if(kept.all, std::back_inserter(merged.all), [&](const Rule& rule) {
    const auto replaces = [&](const LearnedClass& one) { return holds_for(rule, one.features); };
    return is_of(rule, platform) && std::ranges::any_of(all_, replaces);
  });
  for (const LearnedClass& learned : all_) {
    if (learned.use) merged.all.push_back(rule_of(learned, platform, date));
  }
  const std::size_t frame = to_text(Rules{}).size();
  std::size_t bytes = frame - 1;  // one rule needs no comma
  auto first = merged.all.end();
  while (first != merged.all.begin()) {
    bytes += to_text(Rules{{*(first - 1)}, {}}).size() - frame + 1;
    if (bytes > max_bytes) break;
    --first;
  }
  merged.all.erase(merged.all.begin(), first);
  return merged;
}

Rules kept_for(const Rules& kept, int p, const Platform& platform) {
  Rules found;
  for (Rule rule : kept.all) {
    if (rule.p != exactly(p) || !is_of(rule, platform)) continue;
    rule.mpi.clear();
    rule.version.clear();
    rule.evidence.network.clear();
    found.all.push_back(std::move(rule));
  }
  return found;
}

SizeClass class_of(const Rule& kept) { return class_of(kept.bytes.most); }

TuningEvidence evidence_of(const Rule& kept) {
  const RuleEvidence& evidence = kept.evidence;
  return {kept.use.is_native() ? 0 : 1, nanoseconds(evidence.native_us),
          nanoseconds(evidence.choice_us), static_cast<int>(evidence.calls.value_or(0)),
          evidence.date};
}

bool holds_for(const Rule& kept, const Features& features) {
  return matches(kept, features) && kept.bytes.contains(features.block);
}

}  // namespace tutti
