#include "app/data_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::app {
namespace {

namespace fs = std::filesystem;

class DataDirTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "muster-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& text) {
    std::ofstream(root_ / name) << text;
  }

  // Makes a data directory, with a store as far as it is concerned.
  static void finish(const std::string& path) {
    const auto data_dir = DataDir::open(path).value();
    fs::create_directory(path + "/store");
    std::ofstream(path + "/store/FORMAT") << "a store";
    ASSERT_TRUE(data_dir->finish());
  }

  fs::path root_;
};

TEST_F(DataDirTest, IsMadeMarkedAndFoundAgain) {
  const std::string path = root_ / "a/b";
  ASSERT_TRUE(DataDir::open(path));
  ASSERT_TRUE(DataDir::open(path)) << "one that was killed before it was finished";
  EXPECT_FALSE(fs::exists(path + "/MUSTER"));
  finish(path);
  EXPECT_TRUE(fs::exists(path + "/MUSTER"));
  ASSERT_TRUE(DataDir::open(path).value()->finish()) << "any number of times";
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

// S-D3: it started empty, without a word.
TEST_F(DataDirTest, RefusesOneThatHasLostItsStore) {
  const std::string path = root_ / "data";
  finish(path);
  fs::create_directory(path + "/pki");
  // First what is in the folder, as when it is a mount point and nothing is mounted; then itself.
  for (const char* const lost : {"/store/FORMAT", "/store"}) {
    fs::remove(path + lost);
    for (const auto& opened : {DataDir::open(path), DataDir::open_for_reading(path)}) {
      ASSERT_FALSE(opened);
      EXPECT_NE(opened.error().message.find("has lost what was in its folder store"),
                std::string::npos);
      EXPECT_NE(opened.error().message.find("muster store restore"), std::string::npos);
    }
    EXPECT_FALSE(fs::exists(path + lost));
  }
}

TEST_F(DataDirTest, IsReadWithoutATrace) {
  const std::string path = root_ / "data";
  EXPECT_FALSE(DataDir::open_for_reading(path));
  EXPECT_FALSE(fs::exists(path));
  fs::create_directory(path);
  EXPECT_FALSE(DataDir::open_for_reading(path)) << "an empty one";
  EXPECT_TRUE(fs::is_empty(path));
  {
    ASSERT_TRUE(DataDir::open(path));
  }
  EXPECT_FALSE(DataDir::open_for_reading(path)) << "one that was never finished";
  finish(path);
  const auto one = DataDir::open_for_reading(path);
  EXPECT_TRUE(one);
  EXPECT_TRUE(DataDir::open_for_reading(path)) << "several may read";
  EXPECT_FALSE(DataDir::open(path)) << "and nobody write meanwhile";
}

TEST_F(DataDirTest, BelongsToOneAtATime) {
  const auto first = DataDir::open(root_);
  ASSERT_TRUE(first);
  const auto second = DataDir::open(root_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use by another muster"), std::string::npos);
}

TEST_F(DataDirTest, LeavesForeignDirectoriesAlone) {
  put("thesis.tex", "chapter one");
  const auto opened = DataDir::open(root_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("not Muster's"), std::string::npos);
  EXPECT_FALSE(fs::exists(root_ / "MUSTER"));
}

TEST_F(DataDirTest, RefusesANewerFormatUntouched) {
  put("MUSTER", "This directory holds the data of Muster. Format 99\n");
  const auto opened = DataDir::open(root_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("format 99"), std::string::npos);
  EXPECT_EQ(read_file(root_ / "MUSTER").value(),
            "This directory holds the data of Muster. Format 99\n");
}

TEST_F(DataDirTest, RefusesAFile) {
  put("file", "text");
  EXPECT_FALSE(DataDir::open(root_ / "file"));
}

TEST_F(DataDirTest, WritesFilesOnlyTheOwnerReads) {
  const std::string path = root_ / "key";
  ASSERT_TRUE(write_private_file(path, "one"));
  ASSERT_TRUE(write_private_file(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(write_private_file(root_ / "missing/key", "x"));
}

// S-M7: what is written is for its owner's eyes from the first byte on, whatever the umask is, and
// a file or link that somebody has put in the way is not written to.
TEST_F(DataDirTest, PrivateFilesAreNewFilesOfTheirOwn) {
  const std::string path = root_ / "kubeconfig";
  put("elsewhere", "theirs");
  fs::create_symlink(root_ / "elsewhere", path);
  const mode_t before = ::umask(0);
  EXPECT_TRUE(write_private_file(path, "secret"));
  ::umask(0777);
  EXPECT_TRUE(write_private_file(root_ / "other", "secret"));
  ::umask(before);
  EXPECT_EQ(read_file(root_ / "elsewhere").value(), "theirs");
  EXPECT_FALSE(fs::is_symlink(path)) << "the link is replaced, not followed";
  for (const char* name : {"kubeconfig", "other"}) {
    struct stat status{};
    ASSERT_EQ(::stat((root_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << name;
    EXPECT_EQ(read_file(root_ / name).value(), "secret");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 3)
      << "no draft is left";
}

}  // namespace
}  // namespace muster::app
