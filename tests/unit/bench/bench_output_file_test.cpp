/// Files for results stay as they were until the new text is whole.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/output_file.hpp"
#include "temporary_folder.hpp"

namespace tutti::bench {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

struct OutputFiles : ::testing::Test {
  test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "results";
  std::filesystem::path part = folder.path() / "results.part";

  static OutputFile opened(const std::filesystem::path& path) {
    Result<OutputFile> made = OutputFile::open("--output", path);
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
  }
};

TEST_F(OutputFiles, AreTriedWithoutAChange) {
  opened(file);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  put(file, "former");
  opened(file);
  EXPECT_EQ(text_of(file), "former");
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_symlink(file, link);
  opened(link);
  EXPECT_EQ(text_of(file), "former");
}

TEST_F(OutputFiles, AreReplacedAtTheEnd) {
  put(file, "former");
  std::filesystem::permissions(
      file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  OutputFile output = opened(file);
  EXPECT_FALSE(output.add("row"));
  EXPECT_TRUE(output.keeps_part());
  output.keep("row");
  EXPECT_EQ(text_of(file), "former");
  EXPECT_EQ(text_of(part), "row");
  EXPECT_EQ(output.finish("row, row"), "");
  EXPECT_EQ(text_of(file), "row, row");
  EXPECT_EQ(static_cast<int>(std::filesystem::status(file).permissions()), 0600);
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(OutputFiles, LeaveTheFilesOfOthers) {
  put(part, "of another program");
  EXPECT_EQ(opened(file).finish("text"), "");
  EXPECT_EQ(text_of(part), "of another program");
}

TEST_F(OutputFiles, KeepALinkAndHaveTheTextThere) {
  put(file, "former, longer");
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_symlink(file, link);
  OutputFile output = opened(link);
  EXPECT_FALSE(output.keeps_part());
  EXPECT_TRUE(output.add("one, "));
  EXPECT_EQ(text_of(file), "one, ");
  EXPECT_EQ(output.finish("two"), "");
  EXPECT_EQ(text_of(file), "one, two");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(OutputFiles, NameTheReasonIfTheyCannotBeWritten) {
  const std::string missing = folder.path() / "none/results";
  Result<OutputFile> output = OutputFile::open("--json", missing);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(), "cannot write --json " + missing + ": No such file or directory");
  output = OutputFile::open("--csv", folder.path());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(), "cannot write --csv " + folder.path().string() + ": Is a directory");
  EXPECT_EQ(opened("/dev/full").finish("text"),
            "cannot write --output /dev/full: No space left on device");
}

TEST_F(OutputFiles, WithoutANameAreNone) {
  OutputFile output = opened("");
  EXPECT_FALSE(output.keeps_part());
  EXPECT_FALSE(output.add("text"));
  EXPECT_EQ(output.finish("text"), "");
}

}  // namespace
}  // namespace tutti::bench
