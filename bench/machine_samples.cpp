/// Medians of measurements, and the conditions that they must meet.
#include "bench/machine_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "bench/statistics.hpp"

namespace tutti::bench {

namespace {

constexpr double max_spread = 5;   // median over the 10 % quantile
constexpr double max_drift = 5;    // ratio of the first to the last median, either way
constexpr double max_excess = 10;  // time of a part over the time of the whole

std::string us(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g us", seconds * 1e6);
  return text.data();
}

/// The median; an error if the repetitions vary too much.
Result<double> steady(std::vector<double> samples, const std::string& what) {
  std::sort(samples.begin(), samples.end());
  const double fast = quantile(samples, 0.1);
  const double median = quantile(samples, 0.5);
  if (median <= max_spread * fast) return median;
  return Error{"unsteady times of " + what + ": median " + us(median) + ", 10 % quantile " +
               us(fast)};
}

/// The contradiction between these medians; empty if there is none.
std::string contradiction(const Machine& machine, double middle, double large, double again) {
  const double empty = machine.latency;
  if (middle <= empty || large <= middle) {
    return "contradictory times: 0 bytes take " + us(empty) + ", 64 KiB " + us(middle) +
           " and 1 MiB " + us(large);
  }
  if (std::max(empty, again) > max_drift * std::min(empty, again)) {
    return "drifting times: empty messages take " + us(empty) + " first and " + us(again) + " last";
  }
  for (const auto& [what, seconds] : {std::pair("the overhead of a message", machine.overhead),
                                      std::pair("the gap between messages", machine.gap)}) {
    if (seconds > max_excess * empty) {
      return std::string(what) + " takes " + us(seconds) + ", but an empty message takes " +
             us(empty);
    }
  }
  return out_of_range(machine);
}

}  // namespace

Result<Machine> machine_from(const MachineSamples& samples) {
  const std::array<Result<double>, 4> medians = {
      steady(samples.empty, "an empty message"), steady(samples.middle, "a message of 64 KiB"),
      steady(samples.large, "a message of 1 MiB"),
      steady(samples.empty_again, "an empty message at the end")};
  for (const Result<double>& median : medians) {
    if (!median) return Error{median.error()};
  }
  Machine machine;
  machine.latency = *medians[0];
  machine.per_byte = (*medians[2] - *medians[0]) / static_cast<double>(MachineSamples::large_bytes);
  machine.overhead = summarize(samples.overhead).median;
  machine.gap = summarize(samples.gap).median;
  const std::string wrong = contradiction(machine, *medians[1], *medians[2], *medians[3]);
  if (!wrong.empty()) return Error{wrong};
  return machine;
}

std::string contradiction_in_memory(const Machine& machine) {
  constexpr double max_latency = 1e-3;
  constexpr double max_copies = 100;
  const double copies = machine.per_byte / machine.copy_per_byte;
  if (machine.latency <= max_latency && copies <= max_copies) return "";
  return "slow messages within one node: an empty one takes " + us(machine.latency) +
         ", a byte as long as " + std::to_string(static_cast<long>(copies)) + " copies";
}

}  // namespace tutti::bench
