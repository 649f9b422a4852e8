/// Summaries as bytes, to travel between processes of one job.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "report/summary.hpp"

namespace tutti {

/// In the layout of this machine.
[[nodiscard]] std::vector<std::byte> to_bytes(const Summary& summary);
/// What `to_bytes` of the same version wrote, or nothing if these bytes are not that.
[[nodiscard]] std::optional<Summary> summary_from_bytes(std::span<const std::byte> bytes);

}  // namespace tutti
