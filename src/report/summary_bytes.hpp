/// Summaries as bytes, for messages between processes of one job.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "report/summary.hpp"

namespace tutti {

/// Writes a summary in the layout of this machine.
[[nodiscard]] std::vector<std::byte> to_bytes(const Summary& summary);
/// Reads the bytes that to_bytes() of the same version wrote; nothing if they are invalid.
[[nodiscard]] std::optional<Summary> summary_from_bytes(std::span<const std::byte> bytes);

}  // namespace tutti
