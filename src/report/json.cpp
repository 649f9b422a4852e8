/// Writes the report as JSON.
#include "core/json.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/numbers.hpp"
#include "report/content.hpp"

namespace tutti {

namespace {

/// A number with five digits, for the many measured times of a report.
Json five_digits(double number) {
  Json value;
  if (std::isfinite(number)) value.text = in_characters(number, std::chars_format::general, 5);
  return value;
}

constexpr const char* method_of_tuning =
    "median of at most the latest 32 calls noted: time after the last arrival, of rooted and "
    "irregular collectives and scans without a common clock the mean of the longest and the mean "
    "elapsed time; interval of the median by order statistics";

using TimesByRank = std::vector<float> CallTimes::*;

Json times(const std::vector<CallTimes>& calls, TimesByRank by_rank) {
  return json_list(calls,
                   [&](const CallTimes& call) { return json_list(call.*by_rank, five_digits); });
}

/// Null if no rank has a time in any call.
Json times_if_known(const std::vector<CallTimes>& calls, TimesByRank by_rank) {
  const auto is_known = [](float seconds) { return !std::isnan(seconds); };
  const bool any = std::ranges::any_of(
      calls, [&](const CallTimes& call) { return std::ranges::any_of(call.*by_rank, is_known); });
  return any ? times(calls, by_rank) : Json();
}

/// The pattern by call, and its means by rank.
Json json_of_pattern(const ArrivalPattern& pattern, int communicators) {
  const std::vector<CallTimes>& calls = pattern.calls;
  const std::vector<RankShare> shares = shares_of(pattern);
  const auto since_first = [&](const CallTimes& call) { return call.begin - calls.front().begin; };
  const auto delay = [](const RankShare& share) { return five_digits(share.delays); };
  const auto part = [&](double Parts::*which) {
    return json_list(shares, [&](const RankShare& one) { return five_digits(one.parts.*which); });
  };
  return json_object(
      "communicators", communicators, "ranks", json_list(pattern.world), "calls",
      json_list(calls, &CallTimes::call), "roots", json_list(calls, &CallTimes::root), "begins",
      json_list(calls, since_first), "delays", times(calls, &CallTimes::delays), "elapsed",
      times(calls, &CallTimes::elapsed), "ahead", times_if_known(calls, &CallTimes::ahead),
      "progress_hint", times_if_known(calls, &CallTimes::progress_hint), "waiting",
      part(&Parts::waiting), "held", part(&Parts::held), "moving", part(&Parts::moving),
      "mean_delay", json_list(shares, delay), "last", json_list(shares, &RankShare::last));
}

Json json_of_parts(const SiteCalls& calls) {
  const Parts mean = calls.parts / static_cast<double>(calls.split);
  return json_object("calls", calls.split, "waiting", mean.waiting, "held", mean.held, "moving",
                     mean.moving);
}

Json json_of_calls(const ReportedCalls& line) {
  const bool timed = line.timed > 0;
  const bool split = line.split > 0;
  const double irregularity = line.irregularity_sum / static_cast<double>(line.calls);
  const auto calls_of_root = [](const RootCalls& one) {
    return json_list(std::array<std::int64_t, 2>{one.root, one.calls});
  };
  const auto size = [&](const SizedCalls& sized) {
    const bool rooted = has_root(line.collective);
    return json_object("p", sized.p, "bytes", sized.bytes / sized.calls, "calls", sized.calls,
                       "irregularity", sized.irregularity_sum / static_cast<double>(sized.calls),
                       "seconds", sized.seconds, "root", rooted ? sized.root() : no_rank, "roots",
                       rooted ? json_list(sized.roots, calls_of_root) : Json());
  };
  return json_object(
      "collective", name_of(line.collective), "site", line.site, "other_sites",
      json_list(line.other_sites), "calls", line.calls, "explored", line.explored, "bytes",
      line.bytes, "irregularity", json_object("mean", irregularity, "max", line.irregularity_max),
      "sizes", json_list(line.sizes, size), "algorithm", line.algorithm, "reason", line.reason,
      "seconds", timed ? json_object("mean", line.run_mean(), "max", line.run_max) : Json(),
      "elapsed", json_object("mean", line.elapsed, "sum", line.rank_seconds), "spread",
      timed ? json_object("median", line.spread.median(), "max", line.spread.max) : Json(),
      "moving", timed ? json_object("mean", line.moving_mean()) : Json(), "spread_note", line.note,
      "parts", split ? json_of_parts(line) : Json(), "late", split ? Json(line.late) : Json(),
      "pattern", split ? json_of_pattern(line.pattern, line.patterns) : Json());
}

Json interval(double least, double most) { return json_list(std::array{least, most}, five_digits); }

Json json_of_candidate(const MeasuredCandidate& candidate) {
  const bool has_interval = candidate.confidence > 0;
  return json_object("name", candidate.name, "state", candidate.state, "why", candidate.why,
                     "calls", candidate.calls, "median",
                     candidate.median >= 0 ? five_digits(candidate.median) : Json(), "interval",
                     has_interval ? interval(candidate.least, candidate.most) : Json(),
                     "confidence", has_interval ? five_digits(candidate.confidence) : Json());
}

Json json_of_case(const ReportedCase& one) {
  const MeasuredCase& known = one.measured;
  const auto name = [&](int candidate) {
    return known.candidates[static_cast<std::size_t>(candidate)].name;
  };
  const auto site = [](const NamedCalls& each) {
    return json_object("site", each.name, "calls", each.calls);
  };
  const auto& table = one.on_table;
  const auto& saved = one.interval;
  const Json most = known.max_bytes < 0 ? Json() : Json(known.max_bytes);
  return json_object("collective", name_of(one.collective), "ranks", one.ranks, "bytes",
                     json_list(std::array{Json(known.min_bytes), most}), "selected",
                     name(known.selected), "reason", known.reason, "evidence", known.evidence,
                     "calls", one.calls, "explored", known.explored, "saved",
                     five_digits(one.saved), "saved_interval",
                     saved ? interval(saved->least, saved->most) : Json(), "exploring",
                     five_digits(known.exploring), "on_table",
                     table ? json_object("candidate", name(table->candidate), "seconds",
                                         five_digits(table->seconds), "why", table->why)
                           : Json(),
                     "sites", json_list(one.sites, site), "candidates",
                     json_list(known.candidates, json_of_candidate));
}

Json json_of_tuning(const ReportedTuning& tuning, double seconds) {
  const auto exploring = [](const ReportedTuning::Exploring& each) {
    return json_object("collective", name_of(each.collective), "exploring",
                       five_digits(each.seconds));
  };
  return json_object("seconds", five_digits(seconds), "saved", five_digits(tuning.saved),
                     "exploring", five_digits(tuning.exploring), "left_out", tuning.left_out,
                     "left_out_calls", tuning.left_out_calls, "method", method_of_tuning,
                     "collectives", json_list(tuning.collectives, exploring), "cases",
                     json_list(tuning.cases, json_of_case));
}

}  // namespace

std::string to_json(const ReportContent& content) {
  const bool is_partial = !content.partial.empty();
  const auto other = [](const NamedCalls& each) {
    return json_object("function", each.name, "calls", each.calls);
  };
  const Json whole = json_object(
      "format", 2, "tutti", content.version, "mpi", content.mpi, "ranks", content.ranks, "nodes",
      content.nodes, "clock_error", content.clock_error < 0 ? Json() : Json(content.clock_error),
      "clock", content.clock, "one_sided",
      content.one_sided.empty() ? Json() : Json(content.one_sided), "partial", is_partial, "view",
      is_partial ? content.partial : "all ranks", "seconds",
      json_object("mean", content.seconds_mean, "max", content.seconds_max), "wall",
      content.wall > 0 ? Json(content.wall) : Json(), "program", content.program, "modules",
      json_list(content.modules), "notes", json_list(content.notes), "not_handled",
      json_list(content.others, other), "calls", json_list(content.calls, json_of_calls), "tuning",
      json_of_tuning(content.tuning, content.seconds_mean));
  return whole.text + "\n";
}

}  // namespace tutti
