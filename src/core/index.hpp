/// Ranks, positions, blocks and steps as array indices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// `number` as an array index; it must not be negative.
[[nodiscard]] constexpr std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

}  // namespace tutti
