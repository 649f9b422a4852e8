/// Reads and writes the settings of collectives.
#include <array>
#include <span>

#include "core/numbers.hpp"
#include "core/words.hpp"
#include "select/selection.hpp"

namespace tutti {

namespace {

/// More lanes than are useful on any node.
constexpr int max_leaders = 64;

constexpr std::string_view opening = "hierarchical(";
constexpr std::string_view leaders_key = "leaders=";

/// `auto` is an alias for the 1 leader that there is without a number.
bool read_leaders(std::string_view text, int& leaders) {
  if (text == "auto") text = "1";
  return read_number(text, leaders) && leaders >= 1 && leaders <= max_leaders;
}

/// The parameters of a specification that choose flat or hierarchical.
struct LevelPart {
  std::string_view value;  ///< flat, hierarchical or auto; empty if the text has none
  bool has_leaders = false;
  Level level;
};

/// Consumes `parameter` if it belongs to LevelPart, else returns false. Sets `error` if it is
/// invalid.
/// `level=` is the former spelling of `hierarchy=`, and `node` of `hierarchical`.
bool take(std::string_view parameter, LevelPart& part, std::string& error) {
  for (const std::string_view key : {"hierarchy=", "level="}) {
    if (!parameter.starts_with(key)) continue;
    part.value = parameter.substr(key.size());
    if (part.value == "node") part.value = "hierarchical";
    part.level.hierarchical = part.value == "hierarchical";
    if (!part.level.hierarchical && part.value != "flat" && part.value != "auto") {
      error = "invalid " + std::string(parameter) + ": expected auto, flat or hierarchical" +
              did_you_mean(part.value, {"auto", "flat", "hierarchical"});
    }
    return true;
  }
  if (!parameter.starts_with(leaders_key)) return false;
  part.has_leaders = true;
  if (!read_leaders(parameter.substr(leaders_key.size()), part.level.leaders)) {
    error = "invalid " + std::string(parameter) + ": expected a number from 1 to 64";
  }
  return true;
}

/// Takes a specification apart into its LevelPart and `rest`.
Result<LevelPart> take_apart(std::string_view text, std::string& rest) {
  LevelPart part;
  const bool encloses = text.starts_with(opening);
  if (encloses) {
    if (!text.ends_with(')')) return Error{"expected ) at the end"};
    text = text.substr(opening.size(), text.size() - opening.size() - 1);
    part.value = "hierarchical";
    part.level.hierarchical = true;
  }
  const std::size_t end = text.find_first_of(encloses ? ":," : ":");
  rest = text.substr(0, end);
  if (encloses && rest.empty()) return Error{"expected native or the name of an algorithm"};
  if (end == std::string_view::npos) return part;
  bool is_first = true;
  std::string error;
  for (const std::string_view parameter : split(text.substr(end + 1))) {
    if (parameter.empty()) return Error{"expected key=value after a colon and a comma"};
    if (!take(parameter, part, error)) {
      rest += (is_first ? ":" : ",") + std::string(parameter);
      is_first = false;
    }
    if (!error.empty()) return Error{error};
  }
  if (encloses && !part.level.hierarchical) {
    return Error{"hierarchical(..) contradicts hierarchy=" + std::string(part.value)};
  }
  if (part.has_leaders && !part.level.hierarchical) {
    return Error{"leaders= needs hierarchical(..), as in hierarchical(" + rest + ",leaders=2)"};
  }
  return part;
}

}  // namespace

Result<Setting> setting(Collective collective, std::string_view text) {
  std::string rest;
  const Result<LevelPart> part = take_apart(text, rest);
  const std::string asked(text);
  if (!part) return Error{asked + ": " + part.error()};
  const bool is_hierarchical = part->level.hierarchical;
  if (is_hierarchical && !can_be_hierarchical(collective)) {
    return Error{asked + ": " + std::string(name_of(collective)) +
                 " has no hierarchical form; expected a specification without hierarchical(..)"};
  }
  const bool by_model = part->value == "auto";
  if (rest == "auto") {
    if (is_hierarchical) {
      return Error{asked + ": expected auto, auto:hierarchy=flat or hierarchical(native)"};
    }
    if (part->value == "flat") return Setting{Setting::Kind::automatic, {}, Level{}};
    return Setting{};
  }
  const std::optional<Level> level = by_model ? std::nullopt : std::optional(part->level);
  if (rest == "native" && !is_one_sided(collective)) {
    return Setting{Setting::Kind::native, {}, level};
  }
  const std::string name = rest.substr(0, rest.find(':'));
  if (name == "auto" || (name == "native" && !is_one_sided(collective))) {
    const std::string key = rest.substr(name.size() + 1, rest.find('=') - name.size() - 1);
    return Error{name + " has no parameter '" + key + "'; valid parameters: hierarchy"};
  }
  constexpr std::array<std::string_view, 3> all_others = {"auto", "native", "hierarchical(native)"};
  const std::size_t others = is_one_sided(collective) ? 1 : can_be_hierarchical(collective) ? 3 : 2;
  const Result<Specification> spec =
      specification(collective, rest, std::span(all_others).first(others));
  if (!spec) return Error{spec.error()};
  if (is_hierarchical && spec->runner == Runner::background) {
    return Error{asked + ": hierarchical(..) excludes runner=background, which " + to_text(*spec) +
                 " requests, because nothing moves before the ranks of a node have arrived; "
                 "expected hierarchy=flat or runner=caller"};
  }
  if (by_model) {
    return Error{asked + ": hierarchy=auto applies to auto and native; expected " + to_text(*spec) +
                 " or hierarchical(" + to_text(*spec) + ")"};
  }
  return Setting{Setting::Kind::forced, *spec, level};
}

Result<std::optional<Level>> level(std::string_view text) {
  if (text == "auto") return std::optional<Level>();
  if (text == "flat") return std::optional(Level{});
  if (text == "hierarchical" || text == "node") return std::optional(Level{true});
  std::string_view leaders;
  const bool encloses = text.starts_with("hierarchical(leaders=") && text.ends_with(')');
  if (encloses || text.starts_with("node:leaders=")) leaders = text.substr(text.find('=') + 1);
  if (encloses) leaders.remove_suffix(1);
  Level level{true};
  if (!read_leaders(leaders, level.leaders)) {
    return Error{
        "expected auto, flat, hierarchical or hierarchical(leaders=K) with K from 1 to 64" +
        did_you_mean(text, {"auto", "flat", "hierarchical"})};
  }
  return std::optional(level);
}

std::string to_text(const Setting& setting) {
  std::string text = "auto";
  if (setting.kind == Setting::Kind::native) text = "native";
  if (setting.kind == Setting::Kind::forced) text = to_text(setting.specification);
  const bool chooses = setting.kind == Setting::Kind::automatic;
  if (!setting.level) {
    return setting.kind == Setting::Kind::native ? text + ":hierarchy=auto" : text;
  }
  if (!setting.level->hierarchical) return chooses ? text + ":hierarchy=flat" : text;
  return std::string(opening) + text + ",leaders=" + std::to_string(setting.level->leaders) + ")";
}

}  // namespace tutti
