/// Matching rules and deciding by them.
#include "select/rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "core/numbers.hpp"

namespace tutti {

namespace {

/// The version number that begins at `text`: digits and dots.
std::string version_at(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_not_of("0123456789."));
  while (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

/// True if `version` begins with all the numbers of `asked`.
bool is_version(std::string_view version, std::string_view asked) {
  if (!version.starts_with(asked)) return false;
  return version.size() == asked.size() || version[asked.size()] == '.';
}

/// Where a rule is from, as far as that is known.
std::string cited(const RuleEvidence& evidence) {
  if (evidence.source.empty() && evidence.date.empty()) return "";
  const char* const comma = evidence.source.empty() || evidence.date.empty() ? "" : ", ";
  return " (" + evidence.source + comma + evidence.date + ")";
}

/// Why a rule selects what it does.
std::string reason_of(const Rule& rule) {
  const RuleEvidence& evidence = rule.evidence;
  std::string reason = "rules: ";
  if (rule.use.is_native()) {
    reason += "nothing was measured to be faster";
  } else if (evidence.native_us && evidence.choice_us && *evidence.choice_us > 0) {
    const double ratio = *evidence.native_us / *evidence.choice_us;
    reason += "measured " + in_characters(ratio, std::chars_format::general, 3) +
              "x faster than the MPI's own";
  } else {
    reason += "selected without a measurement";
  }
  return reason + cited(evidence);
}

/// Blocks that no rank knows all of match no rule that asks for them; equal ones are regular.
bool matches_irregularity(const Rule& rule, const Features& features) {
  return is_block_common(rule.collective) ? rule.irregularity.contains(features.irregularity)
                                          : rule.irregularity.is_all();
}

/// The largest message size that is nearer to the lesser of 2 measured ones, by the ratio.
Bytes border_of(const SizedRuleTimes& lesser, const SizedRuleTimes& larger) {
  return static_cast<Bytes>(std::sqrt(static_cast<double>(lesser.bytes)) *
                            std::sqrt(static_cast<double>(larger.bytes)));
}

/// The sizes whose times count for messages of their own; none where nothing is selected.
std::span<const SizedRuleTimes> sizes_of(const Rule& rule) {
  if (rule.use.is_native() || !is_block_common(rule.collective)) return {};
  return rule.evidence.sizes;
}

const RuleTimes* times_at(const Rule& rule, Bytes bytes) {
  const auto sizes = sizes_of(rule);
  if (sizes.empty()) return &rule.evidence;
  std::size_t at = 0;
  while (at + 1 < sizes.size() && bytes > border_of(sizes[at], sizes[at + 1])) ++at;
  return &sizes[at];
}

bool matches_platform(const Rule& rule, const Platform& platform) {
  if (!rule.mpi.empty() && rule.mpi != platform.mpi.name) return false;
  if (!rule.network.empty() && rule.network != platform.network) return false;
  return rule.version.empty() || is_version(platform.mpi.version, rule.version);
}

}  // namespace

MpiVersion mpi_version(std::string_view library_version) {
  // Those that derive from MPICH name it too, so that it comes last.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known = {
      {{"Open MPI", "openmpi"},
       {"Intel(R) MPI Library", "intel"},
       {"MVAPICH", "mvapich"},
       {"CRAY MPICH version", "cray"},
       {"MPICH Version:", "mpich"},
       {"MPICH", "mpich"}}};
  for (const auto& [text, name] : known) {
    const std::size_t at = library_version.find(text);
    if (at == std::string_view::npos) continue;
    std::string_view rest = library_version.substr(at + text.size());
    if (name == "mvapich") rest = rest.substr(std::min(rest.find(':'), rest.size()));
    return {std::string(name), version_at(rest.substr(0, rest.find('\n')))};
  }
  return {"other", ""};
}

bool matches(const Rule& rule, const Features& features) {
  const bool is_reduction = reduces(features.collective);
  if (rule.collective != features.collective || !rule.p.contains(features.p)) return false;
  if (!rule.nodes.contains(features.nodes)) return false;
  if (!rule.ranks_per_node.contains(features.ranks_per_node)) return false;
  if (!matches_irregularity(rule, features)) return false;
  return !is_reduction || rule.commutative.value_or(features.commutative) == features.commutative;
}

Rules rules_for(Rules rules, int p, const Platform& platform) {
  std::erase_if(rules.all, [&](const Rule& rule) {
    return !rule.p.contains(p) || !matches_platform(rule, platform);
  });
  return rules;
}

std::vector<std::int64_t> irregularities_of(const Rules& rules, Features features) {
  std::set<std::int64_t> ends = {NumberRange::inf};
  const bool is_known = is_irregular(features.collective) && is_block_common(features.collective);
  for (const Rule& rule : rules.all) {
    const auto [least, most] = rule.irregularity;
    features.irregularity = most;
    if (!is_known || !matches(rule, features)) continue;
    if (least > 1) ends.insert(least - 1);
    ends.insert(most);
  }
  return {ends.begin(), ends.end()};
}

std::vector<RuleSpan> spans_of(const Rules& rules, const Features& features) {
  const bool knows_bytes = is_block_common(features.collective);
  std::vector<const Rule*> matching;
  std::set<Bytes> ends = {NumberRange::inf};
  for (const Rule& rule : rules.all) {
    if (!matches(rule, features) || !(knows_bytes || rule.bytes.is_all())) continue;
    matching.push_back(&rule);
    if (rule.bytes.least > 0) ends.insert(rule.bytes.least - 1);
    ends.insert(rule.bytes.most);
    const auto sizes = sizes_of(rule);
    for (std::size_t i = 1; i < sizes.size(); ++i) ends.insert(border_of(sizes[i - 1], sizes[i]));
  }
  std::vector<RuleSpan> spans;
  for (const Bytes end : ends) {
    const auto first = std::ranges::find_if(
        matching, [end](const Rule* rule) { return rule->bytes.contains(end); });
    const Rule* const rule = first == matching.end() ? nullptr : *first;
    const RuleTimes* const times = rule == nullptr ? nullptr : times_at(*rule, end);
    if (!spans.empty() && spans.back().rule == rule && spans.back().times == times) {
      spans.back().most = end;
    } else {
      spans.push_back({end, rule, times});
    }
  }
  return spans;
}

Choice choice_of(const Rule& rule, const Features& features) {
  const std::string why = why_unfit(rule.use, features);
  if (why.empty()) return {rule.use, reason_of(rule)};
  return {flat_native,
          "rules: not " + to_text(rule.use) + ", because " + why + cited(rule.evidence)};
}

}  // namespace tutti
