/// Reads and writes specifications.
#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

#include "algorithms/algorithms.hpp"
#include "core/index.hpp"
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

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

/// A parameter of a specification, and how its value is read and written.
struct Key {
  std::string_view name;
  std::string_view accepted;  ///< in words; if values are words, these in the sequence of values
  bool (*read)(const Key& key, Specification& spec, std::string_view text);
  std::string (*write)(const Key& key, const Specification& spec);
  bool is_word = false;
  Bytes min = 0;
  Bytes max = no_limit;
  std::string_view word = {};  ///< of bytes: stands for `meant`
  Bytes meant = 0;
};

/// A member of a specification or of its parameters.
template <auto member, class Spec>
auto& field(Spec& spec) {
  if constexpr (requires { spec.*member; }) {
    return spec.*member;
  } else {
    return spec.parameters.*member;
  }
}

template <auto member>
using ValueOf = std::remove_reference_t<decltype(field<member>(std::declval<Specification&>()))>;

template <class Value>
constexpr bool is_word_type = std::is_enum_v<Value> || std::is_same_v<Value, bool>;

template <auto member>
bool read(const Key& key, Specification& spec, std::string_view text) {
  using Value = ValueOf<member>;
  Value& value = field<member>(spec);
  if constexpr (is_word_type<Value>) {
    const std::vector<std::string_view> words = words_of(key.accepted);
    const auto number = std::find(words.begin(), words.end(), text) - words.begin();
    // Switches are "on or off".
    value = static_cast<Value>(std::is_same_v<Value, bool> ? 1 - number : number);
    return index(number) < words.size();
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    const bool has_word = !key.word.empty() && text == key.word;
    const Result<Bytes> bytes = has_word ? Result<Bytes>(key.meant) : bytes_from(text);
    if (bytes) value = *bytes;
    return bytes && (value <= key.max || value == key.meant);
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= key.min;
  }
}

template <auto member>
std::string write(const Key& key, const Specification& spec) {
  using Value = ValueOf<member>;
  const auto value = field<member>(spec);
  if constexpr (is_word_type<Value>) {
    const auto number = static_cast<std::size_t>(value);
    return std::string(words_of(key.accepted)[std::is_same_v<Value, bool> ? 1 - number : number]);
  } else {
    return !key.word.empty() && Bytes{value} == key.meant ? std::string(key.word)
                                                          : std::to_string(value);
  }
}

template <auto member>
constexpr Key parameter(std::string_view name, std::string_view accepted, Bytes min = 0,
                        Bytes max = no_limit, std::string_view word = {}, Bytes meant = 0) {
  constexpr bool is_word = is_word_type<ValueOf<member>>;
  return {name, accepted, read<member>, write<member>, is_word, min, max, word, meant};
}

/// In the sequence in which they are written.
constexpr Key keys[] = {
    parameter<&Specification::order>("order",
                                     "natural, rotated, by_size, arrival, late_leaf, distance, "
                                     "nearest_next, two_partners_each or heaviest_first"),
    parameter<&Specification::runner>("runner", "caller or background"),
    parameter<&Parameters::k>("k", "an integer of at least 2", 2),
    parameter<&Parameters::segment>("segment", "bytes such as 4K"),
    parameter<&Parameters::rule>("rule", "volume or gather_time"),
    parameter<&Parameters::threshold>("threshold", "bytes such as 64K, or off", 0, no_limit, "off",
                                      -1),
    parameter<&Parameters::promote>("promote", "on or off"),
    parameter<&Parameters::arrivals>("arrivals", "on or off"),
    parameter<&Parameters::flight>("flight", "an integer of at least 0 (no limit)"),
    parameter<&Parameters::late>("late", "an integer of at least 0"),
    parameter<&Parameters::parts>("parts", "an integer of at least 0 (by the size)"),
    parameter<&Parameters::carry>("carry", "bytes up to 32K, or all", 0, max_carried, "all",
                                  all_carried),
    parameter<&Parameters::nodes>("nodes", "on or off"),
    parameter<&Parameters::protocol>("protocol", "messages or windows"),
    parameter<&Parameters::ports>("ports", "an integer of at least 1", 1),
};

/// Sets one parameter. Returns the error, or an empty text.
std::string set_parameter(Specification& spec, std::string_view name, std::string_view value) {
  const Key& key = *std::find_if(std::begin(keys), std::end(keys),
                                 [&](const Key& known) { return known.name == name; });
  if (key.read(key, spec, value)) return "";
  return "invalid " + std::string(name) + "=" + std::string(value) + ": expected " +
         std::string(key.accepted) +
         (key.is_word ? did_you_mean(value, words_of(key.accepted)) : "");
}

/// An algorithm with its defaults.
Specification defaults_of(const Algorithm& algorithm) {
  return {&algorithm, order_named(algorithm.order).value_or(OrderName::natural), {}};
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
    return read_parameters(defaults_of(algorithm), rest);
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
  const Specification defaults = defaults_of(*spec.algorithm);
  if (spec == defaults) return std::string(spec.algorithm->name);
  std::string settings;
  for (const Key& key : keys) {
    if (!spec.algorithm->takes(key.name)) continue;
    const std::string value = key.write(key, spec);
    if (value == key.write(key, defaults)) continue;
    settings += (settings.empty() ? ":" : ",") + std::string(key.name) + "=" + value;
  }
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
