/// Checks the kind of a path before it reads or writes there.
#include "run/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <system_error>

namespace tutti {

namespace {

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// tutti/`name` in the folder that a variable names, or in `in_home` below the home folder if that
/// is not set. Empty if neither is known.
std::string user_file(const char* variable, const char* in_home, const std::string& name) {
  std::string folder = value_of(variable);
  if (folder.empty() && !value_of("HOME").empty()) folder = value_of("HOME") + in_home;
  return folder.empty() ? "" : folder + "/tutti/" + name;
}

Error unreadable() { return Error{std::string("cannot be read: ") + std::strerror(errno)}; }

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  // Without O_NONBLOCK a pipe would wait for a writer here.
  const OpenFile file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
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

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string line_of(const std::filesystem::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

FileLock::FileLock(const std::string& path) {
  std::error_code unused;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), unused);
  // NFS locks only what is open for writing.
  file_ = open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  constexpr timespec wait = {0, 10'000'000};
  constexpr int max_waits = 1000;
  for (int waits = 0; file_ >= 0 && waits < max_waits; ++waits) {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    nanosleep(&wait, nullptr);
  }
}

FileLock::~FileLock() {
  if (file_ < 0) return;
  flock(file_, LOCK_UN);  // children that were forked meanwhile have the file, too
  close(file_);
}

std::string replace_text_file(const std::string& path, std::string_view text) {
  std::string part;
  int file = -1;
  constexpr int most = 1000;
  for (int number = 0; number < most && file < 0; ++number) {
    std::array<char, 8> ending{};
    const auto digits = static_cast<unsigned>(getpid() + number) & 0xffffffU;
    std::snprintf(ending.data(), ending.size(), ".%06x", digits);
    part = path + ending.data();
    // O_EXCL keeps the files of several processes and hosts apart.
    file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) return std::string("cannot be written: ") + std::strerror(errno);
  bool is_written = write_all(file, text);
  is_written = close(file) == 0 && is_written;
  if (is_written && rename(part.c_str(), path.c_str()) == 0) return "";
  const std::string why = std::string("cannot be written: ") + std::strerror(errno);
  unlink(part.c_str());
  return why;
}

std::string cache_file(const std::string& name) {
  const std::string own = value_of("TUTTI_CACHE_DIR");
  return own.empty() ? user_file("XDG_CACHE_HOME", "/.cache", name) : own + "/" + name;
}

std::vector<RuleFile> rule_files(const std::string& setting, const std::string& library_folder) {
  std::vector<RuleFile> files;
  if (setting == "none") return files;
  if (!setting.empty()) files.push_back({setting, true});
  std::error_code none;
  const std::string users = user_file("XDG_CONFIG_HOME", "/.config", "rules.json");
  if (std::filesystem::exists(users, none)) files.push_back({users});
  if (library_folder.empty()) return files;
  for (const char* const up : {"/..", "/../.."}) {
    const std::string sites = library_folder + up + "/share/tutti/rules.json";
    if (!std::filesystem::exists(sites, none)) continue;
    files.push_back({sites});
    break;
  }
  return files;
}

std::string keep_former(const std::string& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return "";
  constexpr int most = 10000;
  for (int number = 1; number < most; ++number) {
    const std::string kept = path + "." + std::to_string(number);
    // Unlike rename, link never replaces what another process has written meanwhile.
    if (link(path.c_str(), kept.c_str()) == 0) return unlink(path.c_str()) == 0 ? kept : "";
    if (errno != EEXIST) return rename(path.c_str(), kept.c_str()) == 0 ? kept : "";
  }
  return "";
}

std::string expanded(const std::string& path) {
  const std::string process = std::to_string(getpid());
  std::string job = process;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID"}) {
    if (value_of(name).empty()) continue;
    job = value_of(name);
    break;
  }
  std::string name;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const char kind = path[at] == '%' && at + 1 < path.size() ? path[at + 1] : '\0';
    if (kind != 'j' && kind != 'p' && kind != '%') {
      name += path[at];
      continue;
    }
    name += kind == 'j' ? job : kind == 'p' ? process : "%";
    ++at;
  }
  return name;
}

std::string why_no_output(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return "";
  const bool takes_text = S_ISREG(about.st_mode) || S_ISCHR(about.st_mode);
  return takes_text ? "" : "is " + kind_of(about.st_mode);
}

}  // namespace tutti
