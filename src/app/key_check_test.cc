#include "app/key_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace muster::app {
namespace {

namespace fs = std::filesystem;

// A lost key was once replaced without a word, and every kubeconfig and token ended.
TEST(KeyCheckTest, ALostKeyIsNotReplacedSilently) {
  std::string pattern = (fs::temp_directory_path() / "muster-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  const auto data_dir = DataDir::open(root.string());
  ASSERT_TRUE(data_dir);
  EXPECT_TRUE(check_keys(**data_dir)) << "none: the wish for new ones";
  fs::create_directories(root / "pki");
  for (const char* name : {"ca.crt", "ca.key", "sa.key"}) std::ofstream(root / "pki" / name) << "x";
  EXPECT_TRUE(check_keys(**data_dir));
  for (const char* name : {"ca.crt", "ca.key", "sa.key"}) {
    fs::remove(root / "pki" / name);
    const auto lost = check_keys(**data_dir);
    ASSERT_FALSE(lost) << name;
    EXPECT_NE(lost.error().message.find(name), std::string::npos) << lost.error().message;
    std::ofstream(root / "pki" / name) << "x";
  }
  fs::remove_all(root);
}

}  // namespace
}  // namespace muster::app
