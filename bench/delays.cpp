/// Reads patterns of delays, and computes the delay of a rank in a call.
#include "bench/delays.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "core/numbers.hpp"
#include "core/words.hpp"
#include "run/file.hpp"

namespace tutti::bench {

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 28;  // of a file
constexpr std::string_view accepted =
    "none, uniform:50ms, normal:5ms, one-late:50ms, one-late:50ms@RANK or recorded:FILE";

Error refusal(const std::string& why = "") {
  return Error{std::string(accepted) + (why.empty() ? "" : "; " + why)};
}

/// A number in [0, 1) from a counter (splitmix64).
double uniform(std::uint64_t counter) {
  counter += 0x9e3779b97f4a7c15U;
  counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9U;
  counter = (counter ^ (counter >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((counter ^ (counter >> 31)) >> 11) * 0x1p-53;
}

/// A standard normal number from two uniform ones (Box and Muller 1958).
double half_normal(double first, double second) {
  return std::abs(std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second));
}

Result<std::vector<std::vector<double>>> read_calls(const std::string& name) {
  const Result<std::string> text = read_text_file(name, max_bytes);
  if (!text) return Error{text.error()};
  std::vector<std::vector<double>> calls;
  for (std::string_view line : split(*text, "\n")) {
    if (line.empty() || line.front() == '#') continue;
    if (line.ends_with(',')) line.remove_suffix(1);
    std::vector<double>& call = calls.emplace_back();
    for (const std::string_view item : split(line)) {
      double& value = call.emplace_back();
      if (!read_number(item, value) || !(value >= 0)) {
        return Error{"line " + std::to_string(calls.size()) + " has \"" + std::string(item) +
                     "\"; expected seconds"};
      }
    }
    if (call.size() != calls.front().size()) {
      return Error{"line " + std::to_string(calls.size()) + " has " + std::to_string(call.size()) +
                   " ranks; expected " + std::to_string(calls.front().size()) + " as in the first"};
    }
  }
  if (calls.empty()) return Error{"the file has no calls"};
  return calls;
}

}  // namespace

double Delays::of(Rank rank, int p, std::uint64_t call, std::uint64_t seed) const {
  const std::uint64_t counter =
      2 * (call * static_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(rank)) +
      seed * 0xd1342543de82ef95U;
  switch (kind) {
    case Kind::none:
      return 0;
    case Kind::uniform:
      return seconds * uniform(counter);
    case Kind::normal:
      return seconds * half_normal(uniform(counter), uniform(counter + 1));
    case Kind::one_late:
      return rank == (late == no_rank ? p - 1 : late) ? seconds : 0;
    case Kind::recorded:
      break;
  }
  return recorded[call % recorded.size()][static_cast<std::size_t>(rank)];
}

std::string Delays::refusal(int p) const {
  if (late >= p) {
    return "--delay " + text + ": expected a rank from 0 to " + std::to_string(p - 1);
  }
  if (!recorded.empty() && recorded.front().size() != static_cast<std::size_t>(p)) {
    return "--delay " + text + ": the file has " + std::to_string(recorded.front().size()) +
           " ranks; expected " + std::to_string(p);
  }
  return "";
}

double Delays::scale() const {
  double largest = seconds;
  for (const std::vector<double>& call : recorded) {
    largest = std::max(largest, *std::max_element(call.begin(), call.end()));
  }
  return largest;
}

Result<double> seconds_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 0;
  if (error == std::errc() && value >= 0 && std::isfinite(value) && factor > 0) {
    return value * factor;
  }
  return Error{"a time such as 50ms, 200us or 1.5s"};
}

Result<Delays> delays_from(std::string_view text) {
  Delays delays;
  delays.text = text;
  if (text == "none") return delays;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return refusal();
  const std::string_view kind = text.substr(0, colon);
  std::string_view value = text.substr(colon + 1);
  if (kind == "recorded") {
    auto calls = read_calls(std::string(value));
    if (!calls) return refusal(calls.error());
    delays.kind = Delays::Kind::recorded;
    delays.recorded = *calls;
    return delays;
  }
  if (kind == "uniform") {
    delays.kind = Delays::Kind::uniform;
  } else if (kind == "normal") {
    delays.kind = Delays::Kind::normal;
  } else if (kind == "one-late") {
    delays.kind = Delays::Kind::one_late;
    const std::size_t at = value.find('@');
    if (at != std::string_view::npos) {
      const std::string_view rank = value.substr(at + 1);
      if (!read_number(rank, delays.late) || delays.late < 0) {
        return refusal("invalid rank '" + std::string(rank) + "'");
      }
      value = value.substr(0, at);
    }
  } else {
    return Error{std::string(accepted) +
                 did_you_mean(kind, {"uniform", "normal", "one-late", "recorded"})};
  }
  const Result<double> seconds = seconds_from(value);
  if (!seconds) return refusal("invalid time '" + std::string(value) + "'");
  delays.seconds = *seconds;
  return delays;
}

}  // namespace tutti::bench
