#include "app/store_verbs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "app/backup_socket.h"
#include "app/credentials.h"
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
    const auto engine = store::open_rocksdb_engine(data_dir->path("store")).value();
    (void)engine->load().value();
    EXPECT_TRUE(data_dir->finish());
    write(*engine, {"a", "b"});
    EXPECT_TRUE(authority(data_dir.get(), *parse_time("2026-05-01T10:00:00Z")));
    EXPECT_TRUE(token_key(data_dir.get()));
  }
  ~StoreVerbsTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  static void write(store::Engine& engine, const std::vector<std::string>& names) {
    store::Transaction transaction;
    for (const std::string& name : names)
      transaction.writes.push_back(
          {.key = store::make_key(api::kinds::node(), "", name),
           .object = api::Object::make(api::kinds::node(), {{"metadata", {{"name", name}}}}),
           .expected = {}});
    (void)engine.commit(std::span(&transaction, 1)).value();
  }

  std::string data() const { return root_ + "/data"; }
  std::string at(const std::string& name) const { return root_ + "/" + name; }

  // Every file below a directory, with its size and when it was written.
  static std::vector<std::string> picture(const std::string& directory) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      files.push_back(fmt::format("{} {} {}", entry.path().string(),
                                  entry.is_regular_file() ? entry.file_size() : 0,
                                  entry.last_write_time().time_since_epoch().count()));
    std::ranges::sort(files);
    return files;
  }

  std::string root_;
};

TEST_F(StoreVerbsTest, CheckCountsWhatIsThere) {
  const auto told = check_store(data());
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_NE(told->find("revision 2, 2 objects; read 2 revisions and 2 index entries"),
            std::string::npos)
      << *told;
  EXPECT_NE(told->find("2  nodes"), std::string::npos) << *told;
}

TEST_F(StoreVerbsTest, ABackupRestoresWithRevisionsLeftOut) {
  ASSERT_TRUE(backup_store(data(), at("backup")).has_value());
  const auto told = restore_store(at("backup"), at("again"), 1'000);
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_NE(told->find("revision 1002, 2 objects"), std::string::npos) << *told;

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

// S-M6: `check` rewrote the directory, `restore` wrote into the backup it read.
TEST_F(StoreVerbsTest, WhatIsReadIsNeverWritten) {
  const auto before = picture(data());
  ASSERT_TRUE(check_store(data()));
  EXPECT_EQ(picture(data()), before);
  ASSERT_TRUE(backup_store(data(), at("backup")));
  EXPECT_EQ(picture(data()), before);
  const auto backup = picture(at("backup"));
  ASSERT_TRUE(restore_store(at("backup"), at("again"), 10));
  EXPECT_EQ(picture(at("backup")), backup);
}

// S-M6: an empty or cut backup passed.
TEST_F(StoreVerbsTest, HalfADirectoryIsNotWhole) {
  fs::create_directory(at("empty"));
  EXPECT_FALSE(check_store(at("empty")));
  EXPECT_TRUE(fs::is_empty(at("empty")));
  ASSERT_TRUE(backup_store(data(), at("backup")));
  const std::vector<std::string> parts = {"MUSTER",     "store",     "store/FORMAT",
                                          "store/MARK", "store/db",  "store/db/CURRENT",
                                          "pki",        "pki/ca.key"};
  for (const std::string& part : parts) {
    const std::string half = at("half");
    fs::copy(at("backup"), half, fs::copy_options::recursive);
    ASSERT_GT(fs::remove_all(fs::path(half) / part), 0U) << part;
    EXPECT_FALSE(check_store(half)) << part;
    EXPECT_FALSE(restore_store(half, at("again"), 1)) << part;
    EXPECT_FALSE(backup_store(half, at("again"))) << part;
    EXPECT_FALSE(fs::exists(at("again"))) << part;
    EXPECT_FALSE(fs::exists(at("again.incomplete"))) << part;
    fs::remove_all(half);
  }
}

TEST_F(StoreVerbsTest, DamagedKeysAreNotWhole) {
  for (const std::string key : {"ca.crt", "ca.key", "sa.key"}) {
    const std::string file = data() + "/pki/" + key;
    const std::string text = read_file(file).value();
    for (const std::size_t size : {std::size_t{0}, text.size() / 2}) {
      std::ofstream(file) << text.substr(0, size);
      const auto checked = check_store(data());
      ASSERT_FALSE(checked) << key;
      EXPECT_NE(checked.error().message.find("pki/" + key), std::string::npos);
      EXPECT_FALSE(backup_store(data(), at("backup"))) << key;
    }
    std::ofstream(file) << text;
  }
  EXPECT_TRUE(check_store(data()));
}

// The copy was copied too, until its path was too long.
TEST_F(StoreVerbsTest, NothingIsCopiedIntoItself) {
  const auto into = backup_store(data(), data() + "/backups/monday");
  ASSERT_FALSE(into);
  EXPECT_NE(into.error().message.find("is inside"), std::string::npos) << into.error().message;
  EXPECT_FALSE(restore_store(data(), data() + "/again", 1));
  EXPECT_FALSE(fs::exists(data() + "/backups"));
  EXPECT_TRUE(backup_store(data(), data() + "-backup")) << "a name that only begins the same";
}

TEST_F(StoreVerbsTest, WhatAKilledRestoreLeftIsClearedAway) {
  ASSERT_TRUE(backup_store(data(), at("backup")));
  fs::create_directories(at("again.incomplete/store/db"));
  std::ofstream(at("again.incomplete/store/db/000009.sst")) << "half a table";
  EXPECT_FALSE(DataDir::open(at("again.incomplete"))) << "it is nobody's data directory";
  ASSERT_TRUE(restore_store(at("backup"), at("again"), 1));
  EXPECT_FALSE(fs::exists(at("again.incomplete")));
  EXPECT_FALSE(fs::exists(at("again/store/db/000009.sst")));
}

// Writers write on while the backup is made.
TEST_F(StoreVerbsTest, BacksUpAStoreThatIsInUse) {
  const auto running = DataDir::open(data()).value();
  const auto engine = store::open_rocksdb_engine(data() + "/store").value();
  (void)engine->load().value();
  const auto socket = BackupSocket::start(data(), [&](const std::string& to) {
                        return engine->copy_to(to);
                      }).value();
  for (int round = 0; round < 3; ++round) {
    write(*engine, {fmt::format("node-{}", round)});
    const auto done = backup_store(data(), at(fmt::format("backup-{}", round)));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_NE(done->find("which is running"), std::string::npos);
  }
  for (int round = 0; round < 3; ++round) {
    const auto checked = check_store(at(fmt::format("backup-{}", round)));
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_NE(checked->find(fmt::format("revision {}, {} objects", round + 3, round + 3)),
              std::string::npos)
        << *checked;
    EXPECT_FALSE(fs::exists(at(fmt::format("backup-{}/backup.sock", round))));
  }
  const struct stat status = [&] {
    struct stat found{};
    EXPECT_EQ(::stat((data() + "/backup.sock").c_str(), &found), 0);
    return found;
  }();
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(StoreVerbsTest, ABackupOfAStoreInUseSaysWhyItFailed) {
  const auto running = DataDir::open(data()).value();
  const auto socket = BackupSocket::start(data(), [&](const std::string&) -> Result<void> {
                        return fail(Reason::InternalError, "no room left");
                      }).value();
  const auto done = backup_store(data(), at("backup"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no room left");
  EXPECT_FALSE(fs::exists(at("backup")));
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
