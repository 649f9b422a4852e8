/// Quotes strings for JSON.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, because file
/// and function names may hold any bytes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace tutti
