#include "app/key_check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "app/credentials.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

class KeyCheckTest : public testing::Test {
 protected:
  KeyCheckTest() {
    std::string pattern = (fs::temp_directory_path() / "muster-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    data_dir_ = DataDir::open(root_.string()).value();
  }
  ~KeyCheckTest() override { fs::remove_all(root_); }

  void make_keys() const {
    ASSERT_TRUE(authority(data_dir_.get(), *parse_time("2026-05-01T10:00:00Z")));
    ASSERT_TRUE(token_key(data_dir_.get()));
  }
  void refuses(const std::string& name) const {
    const auto lost = check_keys(*data_dir_);
    ASSERT_FALSE(lost) << name;
    EXPECT_NE(lost.error().message.find(name), std::string::npos) << lost.error().message;
  }

  fs::path root_;
  std::unique_ptr<DataDir> data_dir_;
};

// A lost key was once replaced without a word, and every kubeconfig and token ended.
TEST_F(KeyCheckTest, ALostKeyIsNotReplacedSilently) {
  EXPECT_TRUE(check_keys(*data_dir_)) << "none: the wish for new ones";
  make_keys();
  EXPECT_TRUE(check_keys(*data_dir_));
  for (const char* name : {"ca.crt", "ca.key", "sa.key"}) {
    const fs::path key = root_ / "pki" / name;
    const std::string text = read_file(key).value();
    fs::remove(key);
    refuses(name);
    std::ofstream(key) << "";
    refuses(name);
    std::ofstream(key) << text.substr(0, text.size() / 2);
    refuses(name);
    std::ofstream(key) << text;
  }
  EXPECT_TRUE(check_keys(*data_dir_));
  fs::copy(root_ / "pki/sa.key", root_ / "pki/ca.key", fs::copy_options::overwrite_existing);
  refuses("pki/ca.key");
}

TEST_F(KeyCheckTest, KeysAreForTheirOwnerWhateverTheUmask) {
  const mode_t before = ::umask(0);
  make_keys();
  ::umask(before);
  for (const auto& [name, mode] : {std::pair{"pki", 0700U}, {"pki/ca.key", 0600U}}) {
    struct stat status{};
    ASSERT_EQ(::stat((root_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, mode) << name;
  }
}

}  // namespace
}  // namespace muster::app
