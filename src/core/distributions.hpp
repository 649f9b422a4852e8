/// The distributions of block sizes for benchmarks of irregular collectives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Träff 2017, section 4. The comments give the block of rank i for average block b.
enum class Distribution : std::uint8_t {
  same,         ///< b
  random,       ///< uniform in 1..2b
  spikes,       ///< rho * b with probability 1 / rho, else 1
  decreasing,   ///< floor(2b (p - i) / p) + 1
  alternating,  ///< b + floor(b / 2) at even ranks, b - floor(b / 2) at odd ones
  two_blocks,   ///< b at ranks 0 and p - 1, else 0
};

inline constexpr std::array all_distributions = {
    Distribution::same,       Distribution::random,      Distribution::spikes,
    Distribution::decreasing, Distribution::alternating, Distribution::two_blocks};

/// The lower-case name, e.g. "two_blocks".
[[nodiscard]] std::string_view name_of(Distribution distribution);
/// The distribution of that name; "-" is accepted for "_".
[[nodiscard]] std::optional<Distribution> distribution_named(std::string_view name);

/// The blocks of `p` ranks for the average block `b`, in the unit of `b`. Equal seeds give equal
/// blocks on every machine. Only `spikes` uses `rho`, which is at least 1. O(p).
[[nodiscard]] std::vector<Bytes> distribute(Distribution distribution, int p, Bytes b,
                                            std::uint64_t seed = 1, int rho = 5);

}  // namespace tutti
