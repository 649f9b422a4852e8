/// The classes by which calls of a collective are compared.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/types.hpp"

namespace tutti {

/// Class 0 holds calls without data, class k calls of more than 2^(k-2) and at most 2^(k-1) bytes.
///
/// The size of a call is that of one block of its contract: what a rank contributes to a gather or
/// allgather, what it has for one other rank in an alltoall, and the whole vector of a bcast or
/// reduction. Of an irregular collective it is the mean block over all ranks.
using SizeClass = int;

inline constexpr SizeClass size_classes = 65;

/// The class of a block of `bytes`. O(1).
[[nodiscard]] constexpr SizeClass class_of(Bytes bytes) {
  if (bytes <= 0) return 0;
  return static_cast<SizeClass>(std::bit_width(static_cast<std::uint64_t>(bytes - 1))) + 1;
}

/// The largest block of a class, in bytes.
[[nodiscard]] constexpr Bytes largest_of(SizeClass size_class) {
  return size_class == 0 ? 0 : Bytes{1} << std::min(size_class - 1, 62);
}

}  // namespace tutti
