/// Writes schedules as JSON.
#include "draw/json.hpp"

#include "core/json.hpp"

namespace tutti {

namespace {

std::string pair(BlockRange range) {
  return "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + "]";
}

std::string to_json(const Step& step) {
  std::string text = "{\"kind\":" + json_string(name_of(step.kind));
  const auto number = [&](std::string_view name, Bytes value) {
    text += ",\"" + std::string(name) + "\":" + std::to_string(value);
  };
  if (step.kind == StepKind::wait) {
    number("first", step.first);
    number("last", step.last);
    return text + "}";
  }
  number("peer", step.peer);
  text += ",\"blocks\":" + pair(step.blocks.range);
  if (!step.blocks.holes.empty()) {
    text += ",\"holes\":[";
    for (const BlockRange& hole : step.blocks.holes) text += pair(hole) + ",";
    text.back() = ']';
  }
  number("bytes", step.bytes);
  if (step.offset != 0) number("offset", step.offset);
  if (step.after >= 0) number("after", step.after);
  if (step.slots != 0) number("slots", step.slots);
  if (step.runner == Runner::background) text += ",\"runner\":\"background\"";
  return text + "}";
}

}  // namespace

std::string to_json(std::span<const Schedule> schedules) {
  std::string text = "{";
  if (!schedules.empty()) {
    text += "\"collective\":" + json_string(name_of(schedules.front().collective)) +
            ",\"root\":" + std::to_string(schedules.front().root) + ",";
  }
  text += "\"p\":" + std::to_string(schedules.size()) + ",\"ranks\":[";
  for (const Schedule& schedule : schedules) {
    text += "\n[";
    for (const Step& step : schedule.steps) text += to_json(step) + ",";
    if (!schedule.steps.empty()) text.pop_back();
    text += "],";
  }
  if (!schedules.empty()) text.pop_back();
  return text + "]}\n";
}

}  // namespace tutti
