/// Reads and checks files that a user names, without waiting for a pipe or a device.
#pragma once

#include <cstddef>
#include <string>

#include "core/result.hpp"

namespace tutti {

/// The text of a regular file of at most `max_bytes` bytes. For anything else, an error that names
/// the kind of the path, at once: a directory, a pipe, a device, a larger file, one with zero
/// bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

/// Why a file of this name cannot be written: it is a directory, a pipe, a socket or a disk. Empty
/// if nothing is known against it. Does not check its directory.
[[nodiscard]] std::string why_no_output(const std::string& path);

}  // namespace tutti
