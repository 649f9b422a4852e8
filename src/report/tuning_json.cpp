/// Writes measured candidates as JSON.
#include "report/json_parts.hpp"
#include "report/tuning_content.hpp"

namespace tutti {

namespace {

constexpr const char* method =
    "median of at most the latest 16 calls noted: time after the last arrival, of rooted and "
    "irregular collectives and scans the mean of the longest and the mean elapsed time; interval "
    "of the median by order statistics";

std::string to_json(const MeasuredCandidate& candidate) {
  const bool is_measured = candidate.median >= 0;
  const std::string interval =
      "[" + json_five_digits(candidate.least) + "," + json_five_digits(candidate.most) + "]";
  return "{\"name\":" + json_string(candidate.name) + ",\"state\":" + json_string(candidate.state) +
         ",\"why\":" + json_string(candidate.why) + ",\"calls\":" + json_whole(candidate.calls) +
         ",\"median\":" + (is_measured ? json_five_digits(candidate.median) : "null") +
         ",\"interval\":" + (candidate.confidence > 0 ? interval : "null") + ",\"confidence\":" +
         (candidate.confidence > 0 ? json_five_digits(candidate.confidence) : "null") + "}";
}

std::string to_json(const ReportedCase::Site& site) {
  return "{\"site\":" + json_string(site.name) + ",\"calls\":" + json_whole(site.calls) + "}";
}

std::string to_json(const ReportedCase& one) {
  const MeasuredCase& measured = one.measured;
  const auto name = [&](int candidate) {
    return json_string(measured.candidates[static_cast<std::size_t>(candidate)].name);
  };
  const auto& table = one.on_table;
  const std::string bounded = measured.max_bytes < 0 ? "null" : json_whole(measured.max_bytes);
  return "{\"collective\":" + json_string(name_of(one.collective)) +
         ",\"ranks\":" + json_whole(one.ranks) + ",\"bytes\":[" + json_whole(measured.min_bytes) +
         "," + bounded + "]" + ",\"selected\":" + name(measured.selected) +
         ",\"reason\":" + json_string(measured.reason) +
         ",\"evidence\":" + json_string(measured.evidence) + ",\"calls\":" + json_whole(one.calls) +
         ",\"explored\":" + json_whole(measured.explored) +
         ",\"saved\":" + json_five_digits(one.saved) + ",\"saved_interval\":" +
         (one.interval ? "[" + json_five_digits(one.interval->least) + "," +
                             json_five_digits(one.interval->most) + "]"
                       : "null") +
         ",\"exploring\":" + json_five_digits(measured.exploring) + ",\"on_table\":" +
         (table ? "{\"candidate\":" + name(table->candidate) + ",\"seconds\":" +
                      json_five_digits(table->seconds) + ",\"why\":" + json_string(table->why) + "}"
                : "null") +
         ",\"sites\":" + json_list(one.sites, [](const auto& site) { return to_json(site); }) +
         ",\"candidates\":" +
         json_list(measured.candidates, [](const auto& each) { return to_json(each); }) + "}";
}

}  // namespace

std::string to_json(const ReportedTuning& tuning, double seconds) {
  return "{\"seconds\":" + json_five_digits(seconds) +
         ",\"saved\":" + json_five_digits(tuning.saved) +
         ",\"exploring\":" + json_five_digits(tuning.exploring) +
         ",\"left_out\":" + json_whole(tuning.left_out) + ",\"method\":" + json_string(method) +
         ",\"cases\":" + json_list(tuning.cases, [](const auto& one) { return to_json(one); }) +
         "}";
}

}  // namespace tutti
