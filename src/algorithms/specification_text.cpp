/// Reads and writes specifications.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "algorithms/algorithms.hpp"
#include "core/nearest.hpp"

namespace tutti {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// True if the alias names an algorithm of this collective.
bool names_algorithm_of(Collective collective, const Alias& alias) {
  const std::string_view name = alias.specification.substr(0, alias.specification.find(':'));
  return std::ranges::any_of(all_algorithms(), [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && algorithm.name == name;
  });
}

std::vector<std::string_view> known_names(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective) names.push_back(algorithm.name);
  }
  for (const Alias& alias : all_aliases()) {
    if (names_algorithm_of(collective, alias)) names.push_back(alias.name);
  }
  return names;
}

/// The words of a list such as "a, b or c" or "a,b,c".
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(", "));
    if (!word.empty() && word != "or") words.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

bool read_integer(std::string_view text, int least, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least;
}

template <auto member, int least>
bool read_whole(Specification& spec, std::string_view text) {
  return read_integer(text, least, spec.parameters.*member);
}

template <auto member>
bool read_switch(Specification& spec, std::string_view text) {
  spec.parameters.*member = text == "on";
  return text == "on" || text == "off";
}

/// Reads one of two words; each stands for a value.
template <class Value>
bool read_word(std::string_view text, std::array<std::string_view, 2> words,
               std::array<Value, 2> values, Value& value) {
  const auto word = std::find(words.begin(), words.end(), text);
  if (word == words.end()) return false;
  value = values[static_cast<std::size_t>(word - words.begin())];
  return true;
}

/// Reads bytes, or `word` as the value `meant`.
bool read_bytes(std::string_view text, std::string_view word, Bytes meant, Bytes& value) {
  const Result<Bytes> bytes = text == word ? Result<Bytes>(meant) : bytes_from(text);
  if (bytes) value = *bytes;
  return static_cast<bool>(bytes);
}

bool read_order(Specification& spec, std::string_view text) {
  const auto order = order_named(text);
  if (order) spec.order = *order;
  return order.has_value();
}

/// A parameter of a specification: its name, accepted values and reader, and whether `accepted`
/// lists all accepted words.
struct Key {
  std::string_view name;
  std::string_view accepted;
  bool (*read)(Specification& spec, std::string_view text);
  bool is_word = false;
};

constexpr Key keys[] = {
    {"order",
     "natural, rotated, by_size, arrival, late_leaf, distance, nearest_next, two_partners_each or "
     "heaviest_first",
     read_order, true},
    {"runner", "caller or background",
     [](Specification& spec, std::string_view text) {
       return read_word(text, {"caller", "background"}, {Runner::caller, Runner::background},
                        spec.runner);
     },
     true},
    {"k", "an integer of at least 2", read_whole<&Parameters::k, 2>},
    {"flight", "an integer of at least 0 (no limit)", read_whole<&Parameters::flight, 0>},
    {"parts", "an integer of at least 0 (by the size)", read_whole<&Parameters::parts, 0>},
    {"late", "an integer of at least 0", read_whole<&Parameters::late, 0>},
    {"ports", "an integer of at least 1", read_whole<&Parameters::ports, 1>},
    {"segment", "bytes such as 4K",
     [](Specification& spec, std::string_view text) {
       const Result<Bytes> bytes = bytes_from(text);
       if (bytes) spec.parameters.segment = *bytes;
       return static_cast<bool>(bytes);
     }},
    {"threshold", "bytes such as 64K, or off",
     [](Specification& spec, std::string_view text) {
       return read_bytes(text, "off", -1, spec.parameters.threshold);
     }},
    {"carry", "bytes up to 32K, or all",
     [](Specification& spec, std::string_view text) {
       Bytes& carry = spec.parameters.carry;
       return read_bytes(text, "all", all_carried, carry) &&
              (carry <= max_carried || carry == all_carried);
     }},
    {"rule", "volume or gather_time",
     [](Specification& spec, std::string_view text) {
       return read_word(text, {"volume", "gather_time"}, {JoinRule::volume, JoinRule::gather_time},
                        spec.parameters.rule);
     },
     true},
    {"protocol", "messages or windows",
     [](Specification& spec, std::string_view text) {
       return read_word(text, {"messages", "windows"},
                        {Notifications::messages, Notifications::windows},
                        spec.parameters.protocol);
     },
     true},
    {"nodes", "on or off", read_switch<&Parameters::nodes>, true},
    {"promote", "on or off", read_switch<&Parameters::promote>, true},
    {"arrivals", "on or off", read_switch<&Parameters::arrivals>, true},
};

/// Sets one parameter. Returns the error, or an empty text.
std::string set_parameter(Specification& spec, std::string_view name, std::string_view value) {
  const Key& key = *std::find_if(std::begin(keys), std::end(keys),
                                 [&](const Key& known) { return known.name == name; });
  if (key.read(spec, value)) return "";
  return "invalid " + std::string(name) + "=" + std::string(value) + ": expected " +
         std::string(key.accepted) +
         (key.is_word ? did_you_mean(value, words_of(key.accepted)) : "");
}

/// Reads parameters; a colon or a comma precedes each.
Result<Specification> read_parameters(Specification spec, std::string_view text) {
  const Algorithm& algorithm = *spec.algorithm;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size());
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (!algorithm.takes(key)) {
      return Error{std::string(algorithm.name) + " has no parameter " + quoted(key) +
                   valid_names(key, words_of(algorithm.parameters), "parameters")};
    }
    if (equals == std::string_view::npos) {
      return Error{"parameter " + quoted(key) + " of " + std::string(algorithm.name) +
                   " has no value; expected " + std::string(key) + "=VALUE"};
    }
    const std::string error = set_parameter(spec, key, item.substr(equals + 1));
    if (!error.empty()) return Error{error};
  }
  return spec;
}

}  // namespace

Result<Specification> specification(Collective collective, std::string_view text,
                                    std::span<const std::string_view> others) {
  const std::string_view name = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(name.size());
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective != collective || !same_name(algorithm.name, name)) continue;
    Specification spec{&algorithm, order_named(algorithm.order).value_or(OrderName::natural), {}};
    return read_parameters(spec, rest);
  }
  for (const Alias& alias : all_aliases()) {
    if (!same_name(alias.name, name) || !names_algorithm_of(collective, alias)) continue;
    Result<Specification> meant = specification(collective, alias.specification);
    return meant ? read_parameters(*meant, rest) : meant;
  }
  std::vector<std::string_view> known = known_names(collective);
  known.insert(known.end(), others.begin(), others.end());
  return Error{std::string(name_of(collective)) + " has no algorithm " + quoted(name) +
               valid_names(name, known, "algorithms")};
}

std::string to_text(const Specification& spec) {
  const Parameters defaults;
  const Parameters& now = spec.parameters;
  std::string settings;
  const auto add = [&](std::string_view key, const std::string& value) {
    settings += (settings.empty() ? ":" : ",") + std::string(key) + "=" + value;
  };
  if (spec.algorithm->takes("order") && name_of(spec.order) != spec.algorithm->order) {
    add("order", std::string(name_of(spec.order)));
  }
  if (spec.runner == Runner::background) add("runner", "background");
  if (now.k != defaults.k) add("k", std::to_string(now.k));
  if (now.segment != defaults.segment) add("segment", std::to_string(now.segment));
  if (now.rule != defaults.rule) add("rule", "gather_time");
  if (now.threshold != defaults.threshold) add("threshold", std::to_string(now.threshold));
  if (now.promote != defaults.promote) add("promote", "off");
  if (now.arrivals) add("arrivals", "on");
  if (now.flight != defaults.flight) add("flight", std::to_string(now.flight));
  if (now.late != defaults.late) add("late", std::to_string(now.late));
  if (now.parts != defaults.parts) add("parts", std::to_string(now.parts));
  if (now.carry != defaults.carry) {
    add("carry", now.carry == all_carried ? "all" : std::to_string(now.carry));
  }
  if (now.nodes != defaults.nodes) add("nodes", now.nodes ? "on" : "off");
  if (now.protocol != defaults.protocol) add("protocol", "windows");
  if (now.ports != defaults.ports) add("ports", std::to_string(now.ports));
  return std::string(spec.algorithm->name) + settings;
}

Result<Bytes> bytes_from(std::string_view text) {
  Bytes value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || shift < 0 || value < 0 ||
      value > std::numeric_limits<Bytes>::max() >> shift) {
    return Error{"invalid size " + quoted(text) + ": expected bytes such as 1536, 64K, 8M or 1G"};
  }
  return value << shift;
}

}  // namespace tutti
