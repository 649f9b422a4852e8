/// Reading and writing what a user asks for.
#include <charconv>

#include "choose/choose.hpp"

namespace tutti {

namespace {

/// More lanes than any node has use for.
constexpr int most_leaders = 64;

bool read_leaders(std::string_view text, int& leaders) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), leaders);
  return error == std::errc() && end == text.data() + text.size() && leaders >= 1 &&
         leaders <= most_leaders;
}

/// Takes a parameter that belongs to the level; false if it is none. Sets `error` if it is wrong.
bool take(std::string_view parameter, Level& level, bool& leads, std::string& error) {
  constexpr std::string_view place = "level=";
  constexpr std::string_view count = "leaders=";
  if (parameter.starts_with(place)) {
    const std::string_view value = parameter.substr(place.size());
    level.node = value == "node";
    if (!level.node && value != "flat") {
      error = "level=" + std::string(value) + ": a level is flat or node";
    }
    return true;
  }
  if (!parameter.starts_with(count)) return false;
  leads = true;
  if (!read_leaders(parameter.substr(count.size()), level.leaders)) {
    error = std::string(parameter) + ": leaders are a number from 1 to 64";
  }
  return true;
}

/// Splits a specification into what is said of the level and the rest.
Result<Level> split(std::string_view text, std::string& rest) {
  const std::size_t colon = text.find(':');
  rest = text.substr(0, colon);
  Level level;
  if (colon == std::string_view::npos) return level;
  bool leads = false;
  bool is_first = true;
  std::string error;
  for (std::string_view left = text.substr(colon + 1);;) {
    const std::string_view parameter = left.substr(0, left.find(','));
    if (!take(parameter, level, leads, error)) {
      rest += (is_first ? ":" : ",") + std::string(parameter);
      is_first = false;
    }
    if (!error.empty()) return Error{error};
    if (parameter.size() == left.size()) break;
    left.remove_prefix(parameter.size() + 1);
  }
  if (leads && !level.node) return Error{"leaders need level=node"};
  return level;
}

std::string parameters_of(const Level& level) {
  if (!level.node) return "";
  return level.leaders == 1 ? "level=node" : "level=node,leaders=" + std::to_string(level.leaders);
}

}  // namespace

Result<Setting> setting(Collective collective, std::string_view text) {
  if (text == "auto") return Setting{};
  std::string rest;
  const Result<Level> level = split(text, rest);
  if (!level) return Error{std::string(text) + ": " + level.error()};
  if (level->node && is_one_sided(collective)) {
    return Error{std::string(text) + ": a one-sided collective has no level"};
  }
  if (rest == "auto" && level->node) {
    return Error{std::string(text) + ": auto takes no level; native:level=node does"};
  }
  if (rest == "native" && !is_one_sided(collective))
    return Setting{Setting::Kind::native, {}, *level};
  const Result<Specification> spec = specification(collective, rest);
  if (!spec) {
    return Error{spec.error() + (is_one_sided(collective)
                                     ? " (or auto, Tutti's choice)"
                                     : " (or native, the MPI's own, or auto, Tutti's choice)")};
  }
  return Setting{Setting::Kind::forced, *spec, *level};
}

Result<Level> level(std::string_view text) {
  const Error error{"'" + std::string(text) +
                    "' is no level; there are flat, node and node:leaders=K "
                    "with K from 1 to 64"};
  if (text == "flat") return Level{};
  if (text == "node") return Level{true, 1};
  constexpr std::string_view prefix = "node:leaders=";
  Level level{true, 1};
  if (!text.starts_with(prefix) || !read_leaders(text.substr(prefix.size()), level.leaders)) {
    return error;
  }
  return level;
}

std::string to_text(const Setting& setting) {
  if (setting.kind == Setting::Kind::automatic) return "auto";
  const std::string text =
      setting.kind == Setting::Kind::native ? "native" : to_text(setting.specification);
  const std::string of_level = parameters_of(setting.level);
  if (of_level.empty()) return text;
  return text + (text.find(':') == std::string::npos ? ":" : ",") + of_level;
}

}  // namespace tutti
