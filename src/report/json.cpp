/// The report for programs.
#include "core/json.hpp"

#include <utility>

#include "report/content.hpp"
#include "report/numbers.hpp"

namespace tutti {

namespace {

/// {"first":1,"second":2}
std::string object(std::initializer_list<std::pair<const char*, double>> numbers) {
  std::string text = "{";
  for (const auto& [name, value] : numbers) {
    text += (text.size() > 1 ? "," : "") + json_string(name) + ":" + json_number(value);
  }
  return text + "}";
}

std::string list(const std::vector<std::string>& texts) {
  std::string text = "[";
  for (const std::string& each : texts) text += (text.size() > 1 ? "," : "") + json_string(each);
  return text + "]";
}

std::string to_json(const ReportedCalls& line) {
  using std::string_literals::operator""s;
  const auto& together = line.together;
  return "{\"collective\":" + json_string(name_of(line.collective)) +
         ",\"site\":" + json_string(line.site) + ",\"other_sites\":" + list(line.other_sites) +
         ",\"calls\":" + std::to_string(line.calls) + ",\"bytes\":" + std::to_string(line.bytes) +
         ",\"irregularity\":" +
         object({{"mean", line.irregularity_mean}, {"max", line.irregularity_max}}) +
         ",\"algorithm\":" + json_string(line.algorithm) +
         ",\"reason\":" + json_string(line.reason) + ",\"seconds\":" +
         (together ? object({{"mean", together->run_mean}, {"max", together->run_max}}) : "null"s) +
         ",\"elapsed\":" + object({{"mean", line.elapsed}}) + ",\"spread\":" +
         (together ? object({{"median", together->spread_median}, {"max", together->spread_max}})
                   : "null"s) +
         ",\"moving\":" + (together ? object({{"mean", together->moving_mean}}) : "null"s) +
         ",\"spread_note\":" + json_string(line.note) + "}";
}

}  // namespace

std::string to_json(const ReportContent& content) {
  std::string text =
      "{\"format\":1,\"tutti\":" + json_string(content.version) +
      ",\"mpi\":" + json_string(content.mpi) + ",\"ranks\":" + std::to_string(content.ranks) +
      ",\"nodes\":" + (content.nodes ? std::to_string(*content.nodes) : "null") +
      ",\"clock_error\":" + json_number(content.clock_error) +
      ",\"partial\":" + (content.partial.empty() ? "false" : "true") +
      ",\"view\":" + (content.partial.empty() ? "\"all ranks\"" : json_string(content.partial)) +
      ",\"seconds\":" + object({{"mean", content.seconds_mean}, {"max", content.seconds_max}}) +
      ",\"calls\":[";
  for (const ReportedCalls& line : content.calls) text += to_json(line) + ",";
  if (!content.calls.empty()) text.pop_back();
  return text + "]}\n";
}

}  // namespace tutti
