/// Only regular files of text are read; nothing is waited for.
#include "run/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tutti {
namespace {

constexpr std::size_t most = 200000;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tutti-files-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  std::string written(const char* name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string pipe() const {
    mkfifo(path("pipe").c_str(), 0600);
    return path("pipe");
  }

 private:
  std::filesystem::path folder_;
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
