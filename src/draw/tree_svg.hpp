/// Trees of transfers as pictures for documents and browsers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The tree of a rooted collective as SVG: the root at the left, ranks as discs, edges as thick as
/// their data is large, coloured by round and labelled with bytes; `title` stands above, idle
/// ranks below. The error is that of messages(), or says that the data does not flow along a tree.
[[nodiscard]] Result<std::string> tree_to_svg(std::span<const Schedule> schedules,
                                              std::string_view title);

}  // namespace tutti
