/// Files in the user's cache folder, in which runs with TUTTI_LEARN=keep leave what they learned.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/result.hpp"

namespace tutti {

struct KeptFile {
  const char* name;
  std::size_t max_bytes;
};

/// Its text; empty if there is no such file. The error says why it cannot be used.
[[nodiscard]] Result<std::string> read_kept_file(const KeptFile& file);

/// The line on standard error about a file that cannot be used, without its end.
[[nodiscard]] std::string why_ignored(const KeptFile& file, const std::string& why);

/// Replaces its text by what `renewed` makes of the present one, while no other process does so. A
/// failure is one line on standard error.
void renew_kept_file(const KeptFile& file,
                     const std::function<std::string(const Result<std::string>&)>& renewed);

/// The date of today, such as 2026-11-30.
[[nodiscard]] std::string today();

}  // namespace tutti
