/// Reading and writing what a user asks for.
#include <charconv>

#include "select/selection.hpp"

namespace tutti {

namespace {

/// More lanes than any node has use for.
constexpr int most_leaders = 64;

bool read_leaders(std::string_view text, int& leaders) {
  if (text == "auto") {
    leaders = 0;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), leaders);
  return error == std::errc() && end == text.data() + text.size() && leaders >= 1 &&
         leaders <= most_leaders;
}

/// What a specification says of the level.
struct Said {
  std::string_view place;  ///< flat, node, auto, or empty where it says nothing
  bool leads = false;
  Level level;
};

/// Takes a parameter that belongs to the level; false if it is none. Sets `error` if it is wrong.
bool take(std::string_view parameter, Said& said, std::string& error) {
  constexpr std::string_view place = "level=";
  constexpr std::string_view count = "leaders=";
  if (parameter.starts_with(place)) {
    said.place = parameter.substr(place.size());
    said.level.node = said.place == "node";
    if (!said.level.node && said.place != "flat" && said.place != "auto") {
      error = "level=" + std::string(said.place) + ": a level is auto, flat or node";
    }
    return true;
  }
  if (!parameter.starts_with(count)) return false;
  said.leads = true;
  if (!read_leaders(parameter.substr(count.size()), said.level.leaders)) {
    error = std::string(parameter) + ": leaders are auto or a number from 1 to 64";
  }
  return true;
}

/// Splits a specification into what is said of the level and the rest.
Result<Said> split(std::string_view text, std::string& rest) {
  const std::size_t colon = text.find(':');
  rest = text.substr(0, colon);
  Said said;
  if (colon == std::string_view::npos) return said;
  bool is_first = true;
  std::string error;
  for (std::string_view left = text.substr(colon + 1);;) {
    const std::string_view parameter = left.substr(0, left.find(','));
    if (parameter.empty()) return Error{"a colon and a comma are followed by key=value"};
    if (!take(parameter, said, error)) {
      rest += (is_first ? ":" : ",") + std::string(parameter);
      is_first = false;
    }
    if (!error.empty()) return Error{error};
    if (parameter.size() == left.size()) break;
    left.remove_prefix(parameter.size() + 1);
  }
  if (said.leads && !said.level.node) return Error{"leaders need level=node"};
  return said;
}

/// What a setting of this kind adds to its name.
std::string parameters_of(const Setting& setting) {
  const bool chooses = setting.kind == Setting::Kind::automatic;
  if (!setting.level) return setting.kind == Setting::Kind::native ? "level=auto" : "";
  if (!setting.level->node) return chooses ? "level=flat" : "";
  const int leaders = setting.level->leaders;
  return leaders == 0 ? "level=node" : "level=node,leaders=" + std::to_string(leaders);
}

}  // namespace

Result<Setting> setting(Collective collective, std::string_view text) {
  std::string rest;
  const Result<Said> said = split(text, rest);
  if (!said) return Error{std::string(text) + ": " + said.error()};
  if (said->level.node && is_one_sided(collective)) {
    return Error{std::string(text) + ": a one-sided collective has no level"};
  }
  const bool by_model = said->place == "auto";
  if (rest == "auto") {
    if (said->level.node) {
      return Error{std::string(text) +
                   ": auto chooses the level or is flat; native:level=node asks for nodes"};
    }
    if (said->place == "flat") return Setting{Setting::Kind::automatic, {}, Level{}};
    return Setting{};
  }
  const std::optional<Level> level = by_model ? std::nullopt : std::optional(said->level);
  if (rest == "native" && !is_one_sided(collective)) {
    return Setting{Setting::Kind::native, {}, level};
  }
  const Result<Specification> spec = specification(collective, rest);
  if (!spec) {
    return Error{spec.error() + (is_one_sided(collective)
                                     ? " (or auto, Tutti's choice)"
                                     : " (or native, the MPI's own, or auto, Tutti's choice)")};
  }
  if (said->level.node && spec->runner == Runner::background) {
    return Error{std::string(text) + ": level=node does not go with runner=background, which " +
                 to_text(*spec) +
                 " asks for: nothing moves before the ranks of a node have come; level=flat or "
                 "runner=caller is accepted"};
  }
  if (by_model) {
    return Error{std::string(text) + ": level=auto goes with auto and native; an algorithm's is " +
                 "flat or node"};
  }
  return Setting{Setting::Kind::forced, *spec, level};
}

Result<std::optional<Level>> level(std::string_view text) {
  if (text == "auto") return std::optional<Level>();
  if (text == "flat") return std::optional(Level{});
  if (text == "node") return std::optional(Level{true});
  constexpr std::string_view prefix = "node:leaders=";
  Level level{true};
  if (!text.starts_with(prefix) || !read_leaders(text.substr(prefix.size()), level.leaders)) {
    return Error{"'" + std::string(text) +
                 "' is no level; there are auto, flat, node and node:leaders=K with K from 1 to 64 "
                 "or auto"};
  }
  return std::optional(level);
}

std::string to_text(const Setting& setting) {
  std::string text = "auto";
  if (setting.kind == Setting::Kind::native) text = "native";
  if (setting.kind == Setting::Kind::forced) text = to_text(setting.specification);
  const std::string of_level = parameters_of(setting);
  if (of_level.empty()) return text;
  return text + (text.find(':') == std::string::npos ? ":" : ",") + of_level;
}

}  // namespace tutti
