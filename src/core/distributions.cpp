/// The block sizes of each distribution.
#include "core/distributions.hpp"

#include <algorithm>
#include <random>
#include <string>

namespace tutti {
namespace {

constexpr std::array<std::string_view, all_distributions.size()> distribution_names = {
    "same", "random", "spikes", "decreasing", "alternating", "two_blocks"};

/// Uniform in 0..bound-1. Not std::uniform_int_distribution, which differs between libraries.
Bytes below(std::mt19937_64& random, Bytes bound) {
  return static_cast<Bytes>(random() % static_cast<std::uint64_t>(bound));
}

}  // namespace

std::string_view name_of(Distribution distribution) {
  return distribution_names[static_cast<std::size_t>(distribution)];
}

std::optional<Distribution> distribution_named(std::string_view name) {
  std::string wanted(name);
  std::ranges::replace(wanted, '-', '_');
  for (const Distribution distribution : all_distributions) {
    if (name_of(distribution) == wanted) return distribution;
  }
  return std::nullopt;
}

std::vector<Bytes> distribute(Distribution distribution, int p, Bytes b, std::uint64_t seed,
                              int rho) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> blocks(index(p), b);
  for (int i = 0; i < p; ++i) {
    Bytes& block = blocks[index(i)];
    switch (distribution) {
      case Distribution::same:
        break;
      case Distribution::random:
        block = b > 0 ? 1 + below(random, 2 * b) : 0;
        break;
      case Distribution::spikes:
        block = below(random, rho) == 0 ? rho * b : 1;
        break;
      case Distribution::decreasing:
        block = 2 * b * (p - i) / p + 1;
        break;
      case Distribution::alternating:
        block = b + (i % 2 == 0 ? b / 2 : -(b / 2));
        break;
      case Distribution::two_blocks:
        block = i == 0 || i == p - 1 ? b : 0;
        break;
    }
  }
  return blocks;
}

}  // namespace tutti
