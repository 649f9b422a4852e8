/// Reads and writes specifications.
#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "algorithms/algorithms.hpp"
#include "core/numbers.hpp"
#include "core/words.hpp"

namespace tutti {

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// True if the alias names an algorithm of this collective.
bool names_algorithm_of(Collective collective, const Alias& alias) {
  const std::string_view name = alias.specification.substr(0, alias.specification.find(':'));
  return std::ranges::any_of(all_algorithms(), [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && algorithm.name == name;
  });
}

/// Algorithms, `others`, then names from papers.
std::vector<std::string_view> known_names(Collective collective,
                                          std::span<const std::string_view> others) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective) names.push_back(algorithm.name);
  }
  names.insert(names.end(), others.begin(), others.end());
  for (const Alias& alias : all_aliases()) {
    if (names_algorithm_of(collective, alias)) names.push_back(alias.name);
  }
  return names;
}

/// The words of a list such as "a, b or c" or "a,b,c".
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words = split(text, ", ");
  std::erase_if(words, [](std::string_view word) { return word.empty() || word == "or"; });
  return words;
}

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

/// The values that a parameter accepts.
struct Accepted {
  std::string_view words;  ///< if values are words, these in the sequence of values
  Bytes min = 0;
  Bytes max = no_limit;
  std::string_view word = {};  ///< of bytes: stands for `meant`
  Bytes meant = 0;
};

/// Calls visit(name, value, accepted) for each parameter, in the sequence in which they are
/// written.
template <class Spec, class Visit>
void for_each_parameter(Spec& spec, Visit visit) {
  auto& all = spec.parameters;
  // No rank has more of anything that these count.
  constexpr Bytes most = 1 << 20;
#define TUTTI_PARAMETER(name, field, by_default, meaning, ...) \
  visit(#name, field, Accepted{__VA_ARGS__});
#include "algorithms/parameters.inc"
}

template <class Value>
constexpr bool is_word = std::is_enum_v<Value> || std::is_same_v<Value, bool>;

template <class Value>
bool read(std::string_view text, const Accepted& accepted, Value& value) {
  if constexpr (is_word<Value>) {
    const std::vector<std::string_view> words = words_of(accepted.words);
    const auto number = std::ranges::find(words, text) - words.begin();
    // Switches are "on or off".
    value = static_cast<Value>(std::is_same_v<Value, bool> ? 1 - number : number);
    return index(number) < words.size();
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    const bool has_word = !accepted.word.empty() && text == accepted.word;
    const Result<Bytes> bytes = has_word ? Result<Bytes>(accepted.meant) : bytes_from(text);
    if (bytes) value = *bytes;
    return bytes && (value <= accepted.max || value == accepted.meant);
  } else {
    return read_number(text, value) && value >= accepted.min && value <= accepted.max;
  }
}

template <class Value>
std::string write(const Value& value, const Accepted& accepted) {
  if constexpr (is_word<Value>) {
    const auto number = static_cast<std::size_t>(value);
    return std::string(words_of(accepted.words)[std::is_same_v<Value, bool> ? 1 - number : number]);
  } else {
    const bool is_meant = !accepted.word.empty() && Bytes{value} == accepted.meant;
    return is_meant ? std::string(accepted.word) : std::to_string(value);
  }
}

/// Sets one parameter. Returns the error, or an empty text.
std::string set_parameter(Specification& spec, std::string_view key, std::string_view text) {
  std::string error;
  for_each_parameter(spec, [&](std::string_view name, auto& value, const Accepted& accepted) {
    if (name != key || read(text, accepted, value)) return;
    error = "invalid " + std::string(key) + "=" + std::string(text) + ": expected " +
            std::string(accepted.words);
    if (is_word<std::remove_reference_t<decltype(value)>>) {
      error += did_you_mean(text, words_of(accepted.words));
    }
  });
  return error;
}

/// All parameters that its algorithm takes, as "key=value".
std::vector<std::string> written_parameters(const Specification& spec) {
  std::vector<std::string> all;
  for_each_parameter(spec, [&](std::string_view name, const auto& value, const Accepted& accepted) {
    if (spec.algorithm->takes(name)) {
      all.push_back(std::string(name) + "=" + write(value, accepted));
    }
  });
  return all;
}

/// An algorithm with its defaults.
Specification defaults_of(const Algorithm& algorithm) {
  Specification defaults{&algorithm, OrderName::natural, {}};
  if (algorithm.takes("order")) set_parameter(defaults, "order", algorithm.order);
  return defaults;
}

/// Reads parameters; a colon precedes the first, a comma each further one.
Result<Specification> read_parameters(Specification spec, std::string_view text) {
  const Algorithm& algorithm = *spec.algorithm;
  if (text.empty()) return spec;
  for (const std::string_view item : split(text.substr(1))) {
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
  if (spec.order == OrderName::cycle && !has_root(algorithm.collective)) {
    return Error{"order=cycle is for collectives with a root; use order=distance"};
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
  return Error{std::string(name_of(collective)) + " has no algorithm " + quoted(name) +
               valid_names(name, known_names(collective, others), "algorithms")};
}

std::string to_text(const Specification& spec) {
  const Specification defaults = defaults_of(*spec.algorithm);
  if (spec == defaults) return std::string(spec.algorithm->name);
  const std::vector<std::string> usual = written_parameters(defaults);
  const std::vector<std::string> own = written_parameters(spec);
  std::string settings;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != usual[i]) settings += (settings.empty() ? ":" : ",") + own[i];
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
