/// The calls of a site by number of ranks and message size.
#pragma once

#include <cstdint>
#include <vector>

#include "core/size_class.hpp"
#include "core/types.hpp"

namespace tutti {

/// The calls with one number of ranks and one class of message sizes. Sums over these calls.
struct SizedCalls {
  int p = 1;
  SizeClass size_class = 0;
  std::int64_t calls = 0;
  Bytes bytes = 0;              ///< of message sizes
  double irregularity_sum = 0;  ///< of largest block / mean block
  double seconds = 0;           ///< of the root's exit - arrival
  Rank root = 0;                ///< the root of most of these calls
  std::int64_t root_calls = 0;  ///< of that root
};

/// Beyond this number, calls of further sizes or numbers of ranks are left out.
inline constexpr std::size_t sizes_at_most = 64;

/// The message size of a call as rules define it: the vector of a bcast or reduction, else the mean
/// block. `total` is the sum of all blocks of the root. O(1).
[[nodiscard]] constexpr Bytes message_size(Collective collective, Bytes total, int p) {
  return block_kind(collective) == BlockKind::parts ? total : total / p;
}

/// Adds calls to those with equal ranks and size. Requires one root in `more`, or the root of most
/// of its calls. O(sizes).
void add(std::vector<SizedCalls>& sizes, const SizedCalls& more);

}  // namespace tutti
