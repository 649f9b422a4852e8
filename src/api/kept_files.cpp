/// Reads kept files, and replaces them under a lock.
#include "api/kept_files.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

namespace tutti {

namespace {

void say_not_kept(const std::string& why) {
  std::fprintf(stderr, "tutti: what this run learned is not kept: %s\n", why.c_str());
}

}  // namespace

Result<std::string> kept_text(const char* name, std::size_t max_bytes) {
  const std::string path = cache_file(name);
  if (access(path.c_str(), F_OK) != 0) return std::string();
  Result<std::string> text = read_text_file(path, max_bytes);
  if (text && text->empty()) return Error{"is empty"};
  return text;
}

void renew_kept_text(const char* name, const std::function<std::string()>& renewed) {
  const std::string path = cache_file(name);
  if (path.empty()) return say_not_kept("none of TUTTI_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
  const FileLock turn(path);
  const std::string why = replace_text_file(path, renewed());
  if (!why.empty()) say_not_kept(path + " " + why);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 16> text{};
  localtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

}  // namespace tutti
