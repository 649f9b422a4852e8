/// Writes the report as JSON.
#include <algorithm>

#include "report/content.hpp"
#include "report/json_parts.hpp"

namespace tutti {

namespace {

std::string times(const std::vector<float>& seconds) {
  return json_list(seconds, json_five_digits);
}

/// The values of each call; null if no rank has one in any call.
std::string where_known(const std::vector<CallTimes>& calls,
                        std::vector<float> CallTimes::*by_rank) {
  const auto is_known = [](float seconds) { return !std::isnan(seconds); };
  const bool any = std::any_of(calls.begin(), calls.end(), [&](const CallTimes& call) {
    return std::any_of((call.*by_rank).begin(), (call.*by_rank).end(), is_known);
  });
  if (!any) return "null";
  return json_list(calls, [&](const CallTimes& call) { return times(call.*by_rank); });
}

/// The pattern by call, and its means by rank.
std::string to_json(const ArrivalPattern& pattern, int communicators) {
  const std::vector<CallTimes>& calls = pattern.calls;
  const std::vector<RankShare> shares = shares_of(pattern);
  const double begin = calls.front().begin;
  const auto by_call = [&](auto show) { return json_list(calls, show); };
  const auto by_rank = [&](auto show) { return json_list(shares, show); };
  return "{\"communicators\":" + json_whole(communicators) +
         ",\"ranks\":" + json_list(pattern.world, json_whole<Rank>) +
         ",\"calls\":" + by_call([](const CallTimes& call) { return json_whole(call.call); }) +
         ",\"roots\":" + by_call([](const CallTimes& call) { return json_whole(call.root); }) +
         ",\"begins\":" +
         by_call([&](const CallTimes& call) { return json_number(call.begin - begin); }) +
         ",\"delays\":" + by_call([](const CallTimes& call) { return times(call.delays); }) +
         ",\"elapsed\":" + by_call([](const CallTimes& call) { return times(call.elapsed); }) +
         ",\"ahead\":" + where_known(calls, &CallTimes::ahead) +
         ",\"progress_hint\":" + where_known(calls, &CallTimes::progress_hint) + ",\"waiting\":" +
         by_rank([](const RankShare& share) { return json_five_digits(share.parts.waiting); }) +
         ",\"held\":" +
         by_rank([](const RankShare& share) { return json_five_digits(share.parts.held); }) +
         ",\"moving\":" +
         by_rank([](const RankShare& share) { return json_five_digits(share.parts.moving); }) +
         ",\"mean_delay\":" +
         by_rank([](const RankShare& share) { return json_five_digits(share.delays); }) +
         ",\"last\":" + by_rank([](const RankShare& share) { return json_whole(share.last); }) +
         "}";
}

/// One element of `sizes`.
std::string to_json(const SizedCalls& sized, bool is_rooted) {
  const auto calls = static_cast<double>(sized.calls);
  return "{\"p\":" + json_whole(sized.p) + ",\"bytes\":" + json_whole(sized.bytes / sized.calls) +
         ",\"calls\":" + json_whole(sized.calls) +
         ",\"irregularity\":" + json_number(sized.irregularity_sum / calls) +
         ",\"seconds\":" + json_number(sized.seconds) +
         ",\"root\":" + json_whole(is_rooted ? sized.root : no_rank) + "}";
}

std::string parts(const SiteCalls& calls) {
  const Parts mean = calls.parts / static_cast<double>(calls.split);
  return "{\"calls\":" + json_whole(calls.split) + ",\"waiting\":" + json_number(mean.waiting) +
         ",\"held\":" + json_number(mean.held) + ",\"moving\":" + json_number(mean.moving) + "}";
}

/// The values that need the times of all ranks on one clock.
std::string times_of(const ReportedCalls& line) {
  if (line.timed == 0) return ",\"spread\":null,\"moving\":null";
  return ",\"spread\":" +
         json_object({{"median", line.spread.median()}, {"max", line.spread.max()}}) +
         ",\"moving\":" + json_object({{"mean", line.moving_mean()}});
}

std::string to_json(const ReportedCalls& line) {
  const bool split = line.split > 0;
  const double irregularity = line.irregularity_sum / static_cast<double>(line.calls);
  return "{\"collective\":" + json_string(name_of(line.collective)) +
         ",\"site\":" + json_string(line.site) +
         ",\"other_sites\":" + json_list(line.other_sites, json_string) +
         ",\"calls\":" + json_whole(line.calls) + ",\"explored\":" + json_whole(line.explored) +
         ",\"bytes\":" + json_whole(line.bytes) + ",\"irregularity\":" +
         json_object({{"mean", irregularity}, {"max", line.irregularity_max}}) + ",\"sizes\":" +
         json_list(
             line.sizes,
             [&](const SizedCalls& sized) { return to_json(sized, has_root(line.collective)); }) +
         ",\"algorithm\":" + json_string(line.algorithm) +
         ",\"reason\":" + json_string(line.reason) + ",\"seconds\":" +
         (line.timed > 0 ? json_object({{"mean", line.run_mean()}, {"max", line.run_max}})
                         : std::string("null")) +
         ",\"elapsed\":" + json_object({{"mean", line.elapsed}}) + times_of(line) +
         ",\"spread_note\":" + json_string(line.note) +
         ",\"parts\":" + (split ? parts(line) : "null") +
         ",\"late\":" + (split ? json_string(line.late) : "null") +
         ",\"pattern\":" + (split ? to_json(line.pattern, line.patterns) : "null") + "}";
}

}  // namespace

std::string to_json(const ReportContent& content) {
  std::string text =
      "{\"format\":2,\"tutti\":" + json_string(content.version) +
      ",\"mpi\":" + json_string(content.mpi) + ",\"ranks\":" + std::to_string(content.ranks) +
      ",\"nodes\":" + (content.nodes ? std::to_string(*content.nodes) : "null") +
      ",\"clock_error\":" + json_number(content.clock_error) +
      ",\"clock\":" + json_string(content.clock) +
      ",\"one_sided\":" + (content.one_sided.empty() ? "null" : json_string(content.one_sided)) +
      ",\"partial\":" + (content.partial.empty() ? "false" : "true") +
      ",\"view\":" + (content.partial.empty() ? "\"all ranks\"" : json_string(content.partial)) +
      ",\"seconds\":" +
      json_object({{"mean", content.seconds_mean}, {"max", content.seconds_max}}) +
      ",\"wall\":" + (content.wall > 0 ? json_number(content.wall) : "null") +
      ",\"program\":" + json_string(content.program) +
      ",\"modules\":" + json_list(content.modules, json_string) +
      ",\"notes\":" + json_list(content.notes, json_string) + ",\"not_handled\":" +
      json_list(content.others,
                [](const OtherCalls& other) {
                  return "{\"function\":" + json_string(other.function) +
                         ",\"calls\":" + json_whole(other.calls) + "}";
                }) +
      ",\"calls\":[";
  for (const ReportedCalls& line : content.calls) text += to_json(line) + ",";
  if (!content.calls.empty()) text.pop_back();
  return text + "],\"tuning\":" + to_json(content.tuning, content.seconds_mean) + "}\n";
}

}  // namespace tutti
