/// Strings as JSON writes them.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that the
/// result is valid JSON whatever file or function names it is given.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace tutti
