/// Only regular files of text are read; nothing is waited for.
#include "run/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace tutti {
namespace {

constexpr std::size_t most = 200000;

class Files : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return folder_.path() / name; }
  std::string written(const char* name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string pipe() const {
    mkfifo(path("pipe").c_str(), 0600);
    return path("pipe");
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Files, AreReadWhole) {
  const std::string text(most, 'x');
  EXPECT_EQ(*read_text_file(written("large", text), most), text);
  EXPECT_EQ(*read_text_file(written("empty", ""), most), "");
}

TEST_F(Files, AreBounded) {
  EXPECT_EQ(read_text_file(written("larger", std::string(most + 1, 'x')), most).error(),
            "is larger than 200000 bytes");
}

TEST_F(Files, AreOfText) {
  EXPECT_EQ(read_text_file(written("binary", std::string("a\0b", 3)), most).error(),
            "is not a text file");
}

TEST_F(Files, AreReplacedAsAWhole) {
  const std::string file = path("new") + "/folder/file";
  const FileLock turn(file);  // creates the folder
  EXPECT_EQ(replace_text_file(file, "first"), "");
  std::ifstream reader(file);
  EXPECT_EQ(replace_text_file(file, std::string(most, 'x')), "");
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "first");  // who reads sees the old file to its end
  EXPECT_EQ(*read_text_file(file, most), std::string(most, 'x'));
  const std::filesystem::directory_iterator left(path("new") + "/folder");
  EXPECT_EQ(std::distance(left, {}), 2) << "the file and its lock";
}

TEST_F(Files, ThatAreReplacedFollowTheFileMask) {
  const std::string file = written("masked", "");
  const mode_t before = umask(027);
  EXPECT_EQ(replace_text_file(file, "text"), "");
  umask(before);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            perms::owner_read | perms::owner_write | perms::group_read);
}

TEST_F(Files, ThatAreLockedAreForOneAtATime) {
  const std::string file = path("locked") + "/file";
  const auto is_free = [&file] {
    const int opened = open((file + ".lock").c_str(), O_RDWR | O_CLOEXEC);
    const bool is_locked = opened >= 0 && flock(opened, LOCK_EX | LOCK_NB) == 0;
    close(opened);
    return is_locked;
  };
  {
    const FileLock turn(file);
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
  const FileLock nowhere("/dev/null/folder/file");  // goes on without
}

TEST_F(Files, ThatCannotBeReplacedStay) {
  const std::string file = path("folder");
  std::filesystem::create_directory(file);
  EXPECT_EQ(replace_text_file(file, "text"), "cannot be written: Is a directory");
  EXPECT_EQ(replace_text_file(written("file", "") + "/below", "text"),
            "cannot be written: Not a directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("")), {}), 2);
}

TEST_F(Files, ThatExistAreKept) {
  EXPECT_EQ(keep_former(path("none")), "");
  EXPECT_EQ(keep_former(written("empty", "")), "");
  const std::string file = written("report", "first");
  EXPECT_EQ(keep_former(file), file + ".1");
  written("report", "second");
  EXPECT_EQ(keep_former(file), file + ".2");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(*read_text_file(file + ".1", most), "first");
  EXPECT_EQ(*read_text_file(file + ".2", most), "second");
}

TEST_F(Files, HaveTheNumbersOfJobAndProcess) {
  const std::string process = std::to_string(getpid());
  setenv("SLURM_JOB_ID", "4711", 1);
  EXPECT_EQ(expanded("a-%j-%p-%%-%x-%"), "a-4711-" + process + "-%-%x-%");
  unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(expanded("%j"), process);
}

TEST_F(Files, OfTheCacheAreBelowItsFolder) {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/user", 1);
  EXPECT_EQ(cache_file("machine"), "/home/user/.cache/tutti/machine");
  setenv("XDG_CACHE_HOME", "/scratch", 1);
  EXPECT_EQ(cache_file("machine"), "/scratch/tutti/machine");
  setenv("TUTTI_CACHE_DIR", "/own", 1);
  EXPECT_EQ(cache_file("machine"), "/own/machine");
  setenv("TUTTI_CACHE_DIR", "", 1);
  EXPECT_EQ(cache_file("machine"), "/scratch/tutti/machine");
  unsetenv("TUTTI_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(cache_file("machine"), "");
  setenv("HOME", home.c_str(), 1);
}

TEST_F(Files, AreNothingElse) {
  EXPECT_EQ(read_text_file(path("none"), most).error(),
            "cannot be read: No such file or directory");
  EXPECT_EQ(read_text_file(path(""), most).error(), "is a directory");
  EXPECT_EQ(read_text_file("/dev/null", most).error(), "is a device");
  EXPECT_EQ(read_text_file("/dev/zero", most).error(), "is a device");
  EXPECT_EQ(read_text_file(pipe(), most).error(), "is a pipe");
}

TEST_F(Files, AreWrittenWhereNothingElseIs) {
  EXPECT_EQ(why_no_output(path("none")), "");
  EXPECT_EQ(why_no_output(written("old", "x")), "");
  EXPECT_EQ(why_no_output("/dev/null"), "");
  EXPECT_EQ(why_no_output(path("")), "is a directory");
  EXPECT_EQ(why_no_output(pipe()), "is a pipe");
}

}  // namespace
}  // namespace tutti
