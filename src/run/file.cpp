/// Checks the kind of a path before it reads or writes there.
#include "run/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tutti {

namespace {

class OpenFile {
 public:
  // Without O_NONBLOCK a pipe would wait for a writer here.
  explicit OpenFile(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Error unreadable() { return Error{std::string("cannot be read: ") + std::strerror(errno)}; }

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  const OpenFile file(path);
  struct stat about {};
  if (file.number() < 0 || fstat(file.number(), &about) != 0) return unreadable();
  if (!S_ISREG(about.st_mode)) return Error{"is " + kind_of(about.st_mode)};
  std::string text;
  std::array<char, 65536> piece{};
  while (text.size() <= max_bytes) {
    const ssize_t count = read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable();
    if (count == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  if (text.size() > max_bytes)
    return Error{"is larger than " + std::to_string(max_bytes) + " bytes"};
  if (text.find('\0') != std::string::npos) return Error{"is not a text file"};
  return text;
}

std::string why_no_output(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return "";
  const bool takes_text = S_ISREG(about.st_mode) || S_ISCHR(about.st_mode);
  return takes_text ? "" : "is " + kind_of(about.st_mode);
}

}  // namespace tutti
