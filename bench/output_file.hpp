/// A file for the results of a measurement: tried before it, and written whole at its end.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "core/result.hpp"

namespace tutti::bench {

/// The file that an option names. A former one stays as it was until the new one is whole; until
/// then FILE.part may have the results so far. What cannot be replaced is written directly: a link,
/// a pipe, a device, a file in a folder that takes no new ones.
class OutputFile {
 public:
  /// No file: all that it gets is dropped.
  OutputFile() = default;
  /// Tries whether the file can be written, which changes no text; a link to a file that does not
  /// exist makes it. The error names the option, the file and the reason. An empty name stands for
  /// no file.
  [[nodiscard]] static Result<OutputFile> open(const std::string& option, const std::string& name);

  /// Writes text at once to a file that is written directly. False for any other.
  bool add(const std::string& text);
  /// Whether `keep` writes anything.
  [[nodiscard]] bool keeps_part() const { return !name_.empty() && !stream_; }
  /// Writes the results so far to FILE.part, unless the file is written directly.
  void keep(const std::string& text);
  /// Writes the text, to a file that is written directly behind what was added. Returns why it
  /// could not; empty if it could.
  [[nodiscard]] std::string finish(const std::string& text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[nodiscard]] std::string part() const { return name_ + ".part"; }

  std::string option_;
  std::string name_;  ///< empty: none
  std::filesystem::perms mode_ = std::filesystem::perms::none;
  std::unique_ptr<std::FILE, Close> stream_;  ///< if it is written directly
  bool has_begun_ = false;                    ///< whether that, or FILE.part, has text of ours
};

}  // namespace tutti::bench
