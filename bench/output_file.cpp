/// Replaces files, or writes to what cannot be replaced.
#include "bench/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "run/file.hpp"

namespace tutti::bench {

namespace {

/// Whether a file can be replaced by another: it is none yet, or a regular one and no link to one,
/// in a folder that may be written.
bool is_replaceable(const std::string& name) {
  std::error_code none;
  const std::filesystem::file_status status = std::filesystem::symlink_status(name, none);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

std::string unwritable(const std::string& option, const std::string& name) {
  return "cannot write " + option + " " + name + ": " + std::strerror(errno);
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& option, const std::string& name) {
  OutputFile file;
  if (name.empty()) return file;
  file.option_ = option;
  file.name_ = name;
  std::error_code none;
  const bool replaces = is_replaceable(name);
  const bool is_new = !std::filesystem::exists(std::filesystem::symlink_status(name, none));
  file.stream_.reset(std::fopen(name.c_str(), "a"));
  if (!file.stream_) return Error{unwritable(option, name)};
  if (!replaces) return file;
  file.stream_.reset();  // it only had to be possible
  file.mode_ = std::filesystem::status(name, none).permissions();
  if (is_new) std::filesystem::remove(name, none);
  return file;
}

bool OutputFile::add(const std::string& text) {
  if (!stream_) return false;
  std::error_code none;  // of a pipe or a device, which has no former text
  if (!has_begun_) std::filesystem::resize_file(name_, 0, none);
  has_begun_ = true;
  std::fputs(text.c_str(), stream_.get());
  std::fflush(stream_.get());
  return true;
}

void OutputFile::keep(const std::string& text) {
  if (!keeps_part()) return;
  (void)replace_text_file(part(), text);
  has_begun_ = true;
}

std::string OutputFile::finish(const std::string& text) {
  if (name_.empty()) return "";
  if (add(text)) {
    const bool is_written = std::ferror(stream_.get()) == 0;
    if (std::fclose(stream_.release()) == 0 && is_written) return "";
    return unwritable(option_, name_);
  }
  const std::string problem = replace_text_file(name_, text);
  if (!problem.empty()) return option_ + " " + name_ + " " + problem;
  std::error_code none;
  std::filesystem::permissions(name_, mode_, none);
  if (has_begun_) std::filesystem::remove(part(), none);
  return "";
}

}  // namespace tutti::bench
