/// Draws trees of transfers as SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The tree of a rooted collective as SVG: the root at the left, ranks as discs. An edge's
/// thickness grows with its bytes, its colour shows the round and its label the bytes. `title` is
/// at the top, idle ranks at the bottom. The error is that of messages(), or that the data does not
/// flow along a tree.
[[nodiscard]] Result<std::string> tree_to_svg(std::span<const Schedule> schedules,
                                              std::string_view title);

}  // namespace tutti
