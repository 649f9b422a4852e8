/// Files that a user names: read and written without waiting for what is no file.
#pragma once

#include <cstddef>
#include <string>

#include "core/result.hpp"

namespace tutti {

/// The text of a regular file of at most `most` bytes. Anything else is an error that says what the
/// path is, at once: a folder, a pipe, a device, a larger file, one with zero bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t most);

/// Why a file of this name could not be written: it exists and is a folder, a pipe, a socket or a
/// disk. Empty where nothing stands against it. The folder it lies in is not looked at.
[[nodiscard]] std::string why_no_output(const std::string& path);

}  // namespace tutti
