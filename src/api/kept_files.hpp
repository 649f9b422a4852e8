/// Files in the user's cache folder, in which runs with TUTTI_LEARN=keep leave what they learned.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"
#include "run/file.hpp"

namespace tutti {

/// A file whose text `parse` reads, and to_text writes.
template <class Content>
struct KeptFile {
  const char* name;
  std::size_t max_bytes;
  Result<Content> (*parse)(std::string_view text);
};

/// The text of a file; empty if there is no such file. The error says why it cannot be used.
[[nodiscard]] Result<std::string> kept_text(const char* name, std::size_t max_bytes);

/// Its content; an empty one if there is no such file. The error is a line on standard error,
/// without its end.
template <class Content>
[[nodiscard]] Result<Content> read_kept_file(const KeptFile<Content>& file) {
  const Result<std::string> text = kept_text(file.name, file.max_bytes);
  if (text && text->empty()) return Content();
  Result<Content> content = text ? file.parse(*text) : Error{text.error()};
  if (content) return content;
  return Error{cache_file(file.name) + " is ignored, and replaced at the end: " + content.error()};
}

/// Replaces the text of a file by that of `renewed()`, while no other process does so. A failure is
/// one line on standard error.
void renew_kept_text(const char* name, const std::function<std::string()>& renewed);

/// Replaces its content by what `merged` makes of the present one, likewise. One that cannot be
/// used counts as empty.
template <class Content, class Merge>
void renew_kept_file(const KeptFile<Content>& file, Merge merged) {
  renew_kept_text(file.name, [&] {
    Result<Content> present = read_kept_file(file);
    return to_text(merged(present ? std::move(*present) : Content()));
  });
}

/// The date of today, such as 2026-11-30.
[[nodiscard]] std::string today();

}  // namespace tutti
