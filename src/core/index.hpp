/// Ranks, positions, blocks and steps as places in arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// `number` is not negative.
[[nodiscard]] constexpr std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

}  // namespace tutti
