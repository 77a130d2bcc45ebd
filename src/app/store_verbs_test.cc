#include "app/store_verbs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api/kinds/kind.h"
#include "app/data_dir.h"
#include "store/engines/rocksdb.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

class StoreVerbsTest : public ::testing::Test {
 protected:
  StoreVerbsTest() {
    std::string pattern = (fs::temp_directory_path() / "muster-verbs-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    const auto data_dir = DataDir::open(data()).value();
    auto engine = store::open_rocksdb_engine(data_dir->path("store")).value();
    (void)engine->load().value();
    store::Transaction transaction;
    for (const std::string_view name : {"a", "b"})
      transaction.writes.push_back(
          {.key = store::make_key(api::kinds::node(), "", name),
           .object = api::Object::make(api::kinds::node(), {{"metadata", {{"name", name}}}}),
           .expected = {}});
    (void)engine->commit(std::span(&transaction, 1)).value();
  }
  ~StoreVerbsTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string data() const { return root_ + "/data"; }
  std::string at(const std::string& name) const { return root_ + "/" + name; }

  std::string root_;
};

TEST_F(StoreVerbsTest, CheckCountsWhatIsThere) {
  const auto told = check_store(data());
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_NE(told->find("revision 2, 2 object(s)"), std::string::npos) << *told;
  EXPECT_NE(told->find("2  nodes"), std::string::npos) << *told;
}

TEST_F(StoreVerbsTest, ABackupRestoresWithRevisionsLeftOut) {
  ASSERT_TRUE(backup_store(data(), at("backup")).has_value());
  const auto told = restore_store(at("backup"), at("again"), 1'000);
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_NE(told->find("revision 1002, 2 object(s)"), std::string::npos) << *told;

  // Life goes on from there.
  auto engine = store::open_rocksdb_engine(at("again") + "/store").value();
  const store::Contents contents = engine->load().value();
  EXPECT_EQ(contents.objects.size(), 2U);
  store::Transaction transaction;
  transaction.writes.push_back(
      {.key = store::make_key(api::kinds::node(), "", "c"),
       .object = api::Object::make(api::kinds::node(), {{"metadata", {{"name", "c"}}}}),
       .expected = {}});
  const auto committed = engine->commit(std::span(&transaction, 1)).value();
  EXPECT_EQ(committed.front().value().value, 1'003);
}

TEST_F(StoreVerbsTest, NothingIsEverWrittenOver) {
  fs::create_directory(at("taken"));
  EXPECT_NE(backup_store(data(), at("taken")).error().message.find("exists already"),
            std::string::npos);
  EXPECT_NE(restore_store(data(), at("taken"), 1).error().message.find("exists already"),
            std::string::npos);
  EXPECT_NE(check_store(at("nowhere")).error().message.find("there is no data directory"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(at("nowhere")));
}

TEST_F(StoreVerbsTest, ADirectoryInUseIsLeftAlone) {
  const auto running = DataDir::open(data()).value();
  EXPECT_FALSE(check_store(data()).has_value());
  EXPECT_FALSE(backup_store(data(), at("backup")).has_value());
  EXPECT_FALSE(fs::exists(at("backup")));
}

TEST_F(StoreVerbsTest, DamageIsNamed) {
  std::ofstream(data() + "/store/db/CURRENT") << "nothing of the kind";
  const auto told = check_store(data());
  ASSERT_FALSE(told.has_value());
  EXPECT_NE(told.error().message.find("is damaged"), std::string::npos) << told.error().message;
  EXPECT_FALSE(backup_store(data(), at("backup")).has_value());
  EXPECT_FALSE(fs::exists(at("backup")));
}

}  // namespace
}  // namespace muster::app
