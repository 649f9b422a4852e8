/// Finds, reads and checks files that a user names, without waiting for a pipe or a device.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The number of an open file, which is closed with the object. Below 0: of none.
class OpenFile : NotCopied {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// The text of a regular file of at most `max_bytes` bytes. For anything else, an error that names
/// the kind of the path, at once: a directory, a pipe, a device, a larger file, one with zero
/// bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

/// The first line of a file; empty if it cannot be read.
[[nodiscard]] std::string line_of(const std::filesystem::path& file);

/// Writes a text file as a whole: who reads it meanwhile, or writes it too, sees one text or the
/// other. Others may read it as far as the user's file mask permits. Returns why it could not;
/// empty if it could.
[[nodiscard]] std::string replace_text_file(const std::string& path, std::string_view text);

/// Keeps a file to this process among those that do the same, by a lock of `path`.lock, which
/// stays; not of the file, which is replaced. Creates the folder. Waits for at most 10 s, and goes
/// on without a lock where the file system has none.
class FileLock : NotCopied {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();

 private:
  int file_;
};

/// The path under which something is kept for this user: `name` in the folder TUTTI_CACHE_DIR, else
/// in tutti/ of XDG_CACHE_HOME, else in tutti/ of ~/.cache. A variable that is empty counts as not
/// set. Empty if all are, and HOME too.
[[nodiscard]] std::string cache_file(const std::string& name);

/// A file of rules.
struct RuleFile {
  std::string path;
  bool is_named = false;  ///< by TUTTI_RULES: it must exist and be valid
};

/// The rules files of this user, in the sequence in which their rules are tried: the one that
/// `setting` (the value of TUTTI_RULES) names; tutti/rules.json in XDG_CONFIG_HOME, or in ~/.config
/// if that is not set; the site's, share/tutti/rules.json beside the folder of the library or
/// beside that folder's parent. Files that are not named are listed only if they exist. None if
/// `setting` is "none".
[[nodiscard]] std::vector<RuleFile> rule_files(const std::string& setting,
                                               const std::string& library_folder);

/// Writes a whole text to an open file, in one write if possible, so that the texts of several
/// processes do not mix. False if that fails, with the reason in errno.
bool write_all(int file, std::string_view text);

/// Renames an existing file that is not empty to the first free name of path.1, path.2, ..
/// Returns that name; empty if there was none, or if it cannot be moved.
[[nodiscard]] std::string keep_former(const std::string& path);

/// The name of a file with the number of the batch job for %j (else of this process), the number of
/// this process for %p, and % for %%.
[[nodiscard]] std::string expanded(const std::string& path);

/// Why a file of this name cannot be written: it is a directory, a pipe, a socket or a disk. Empty
/// if nothing is known against it. Does not check its directory.
[[nodiscard]] std::string why_no_output(const std::string& path);

}  // namespace tutti
