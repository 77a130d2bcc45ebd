#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

// What is left after the power fails: what was synced, and nothing else.
namespace muster::store {
namespace {

namespace fs = std::filesystem;
using testing::create;
using testing::pod_key;
using testing::replace;
using testing::together;

// How much of each file is synced, and whether there is room for more.
class Disk {
 public:
  void set(const std::string& file, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    sizes_[file] = size;
  }
  void rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    sizes_[to] = sizes_[from];
    sizes_.erase(from);
  }
  std::uint64_t get(const std::string& file) const {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(file);
    return found == sizes_.end() ? 0 : found->second;
  }
  rocksdb::Status room() const {
    return full ? rocksdb::Status::NoSpace("the disk is full") : rocksdb::Status::OK();
  }
  std::atomic<bool> full = false;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> sizes_;
};

// NOLINTBEGIN(readability-identifier-naming): RocksDB's names
class WatchedFile final : public rocksdb::WritableFileWrapper {
 public:
  WatchedFile(std::unique_ptr<rocksdb::WritableFile> file, std::string name, Disk& disk)
      : WritableFileWrapper(file.get()),
        file_(std::move(file)),
        name_(std::move(name)),
        disk_(disk) {}

  rocksdb::Status Append(const rocksdb::Slice& data) override {
    if (rocksdb::Status room = disk_.room(); !room.ok()) return room;
    size_ += data.size();
    return WritableFileWrapper::Append(data);
  }
  rocksdb::Status Append(const rocksdb::Slice& data,
                         const rocksdb::DataVerificationInfo& info) override {
    if (rocksdb::Status room = disk_.room(); !room.ok()) return room;
    size_ += data.size();
    return WritableFileWrapper::Append(data, info);
  }
  rocksdb::Status Sync() override {
    const rocksdb::Status status = WritableFileWrapper::Sync();
    if (status.ok()) disk_.set(name_, size_);
    return status;
  }
  rocksdb::Status Fsync() override {
    const rocksdb::Status status = WritableFileWrapper::Fsync();
    if (status.ok()) disk_.set(name_, size_);
    return status;
  }

 private:
  const std::unique_ptr<rocksdb::WritableFile> file_;
  const std::string name_;
  Disk& disk_;
  std::uint64_t size_ = 0;
};

// A disk whose power can fail.
class PowerEnv final : public rocksdb::EnvWrapper {
 public:
  PowerEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* result,
                                  const rocksdb::EnvOptions& options) override {
    std::unique_ptr<rocksdb::WritableFile> file;
    rocksdb::Status status = EnvWrapper::NewWritableFile(name, &file, options);
    if (status.ok()) *result = std::make_unique<WatchedFile>(std::move(file), name, disk_);
    return status;
  }
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override {
    disk_.rename(from, to);
    return EnvWrapper::RenameFile(from, to);
  }

  // A copy of the store as the next start would find it.
  void survive(const std::string& store, const std::string& copy) const {
    fs::create_directories(copy + "/db");
    fs::copy(store + "/FORMAT", copy);
    fs::copy(store + "/MARK", copy);
    for (const auto& entry : fs::directory_iterator(store + "/db")) {
      const std::string target = copy + "/db/" + entry.path().filename().string();
      fs::copy(entry.path(), target);
      fs::resize_file(target, std::min(disk_.get(entry.path()), fs::file_size(target)));
    }
  }

  void set_full(bool full) { disk_.full = full; }

 private:
  Disk disk_;
};
// NOLINTEND(readability-identifier-naming)

class PowerCut : public ::testing::Test {
 protected:
  PowerCut() : engine_(open_rocksdb_engine(temporary_.store(), &env_).value()) {
    EXPECT_TRUE(engine_->load());
  }

  Revision commit(Write write) {
    std::vector<Transaction> batch{together(std::move(write))};
    return engine_->commit(batch).value().front().value();
  }

  // What is there after the power failed now. The mark may have got to the disk, or not.
  Contents after_power_cut() {
    const std::string copy = fmt::format("{}/copy-{}", temporary_.path(), copies_++);
    env_.survive(temporary_.store(), copy);
    const auto survivor = open_rocksdb_engine(copy).value();
    Result<Contents> contents = survivor->load();
    EXPECT_TRUE(contents) << contents.error().message;
    return contents ? *std::move(contents) : Contents{};
  }

  const testing::TemporaryDirectory temporary_;
  PowerEnv env_;
  std::unique_ptr<Engine> engine_;
  int copies_ = 0;
};

// T3g: a commit that does not sync is acknowledged all the same, and nobody notices until then.
TEST_F(PowerCut, KeepsEveryAcknowledgedWrite) {
  for (std::int64_t i = 1; i <= 5; ++i) {
    ASSERT_EQ(commit(create(fmt::format("pod-{}", i), std::string(2000, 'x'))), Revision{i});
    const Contents contents = after_power_cut();
    EXPECT_EQ(contents.revision, Revision{i});
    EXPECT_EQ(contents.objects.size(), static_cast<std::size_t>(i));
  }
}

TEST_F(PowerCut, KeepsWhatWasDepositedAndThenCommitted) {
  Transaction transaction = together(create("a", std::string(2000, 'x')), create("b", "two"));
  ASSERT_TRUE(engine_->deposit(testing::objects_of(transaction)));
  EXPECT_EQ(after_power_cut().revision, Revision{0});
  ASSERT_TRUE(engine_->commit(std::span(&transaction, 1)).value().front());
  ASSERT_TRUE(engine_->deposit(testing::objects_of(together(create("c", "never committed")))));
  const Contents contents = after_power_cut();
  EXPECT_EQ(contents.revision, Revision{2});
  ASSERT_EQ(contents.objects.size(), 2U);
  EXPECT_EQ(contents.objects[0].second->bytes(),
            testing::make_pod("a", std::string(2000, 'x'))->bytes());
}

TEST_F(PowerCut, MayUndoACompactionButNothingElse) {
  for (std::int64_t i = 0; i < 5; ++i) commit(replace("a", {i}));
  ASSERT_TRUE(engine_->compact({4}));
  ASSERT_TRUE(engine_->remember({.at = Time(Duration(1)), .revision = {5}}));
  const Contents before = after_power_cut();
  EXPECT_EQ(before.revision, Revision{5});
  EXPECT_LE(before.compacted, Revision{4});
  commit(create("b"));
  const Contents after = after_power_cut();
  EXPECT_EQ(after.compacted, Revision{4}) << "the next commit syncs what came before it";
  EXPECT_EQ(after.waypoint->revision, Revision{5});
  EXPECT_EQ(after.objects.size(), 2U);
}

TEST_F(PowerCut, KeepsAProbedStoreWhole) {
  commit(create("a"));
  ASSERT_TRUE(engine_->probe());
  EXPECT_EQ(after_power_cut().revision, Revision{1});
}

// S-M5: a disk that was full and has room again is written again, without a restart.
TEST_F(PowerCut, RecoversFromAFullDiskByItself) {
  commit(create("before"));
  env_.set_full(true);
  std::vector<Transaction> refused{together(create("refused"))};
  EXPECT_FALSE(engine_->commit(refused));
  EXPECT_FALSE(engine_->probe());
  env_.set_full(false);
  // The database looks for room every few seconds.
  Result<void> probed = engine_->probe();
  for (int tries = 0; !probed && tries < 300; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    probed = engine_->probe();
  }
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_EQ(commit(create("after")), Revision{2});
  const Contents contents = after_power_cut();
  EXPECT_EQ(contents.revision, Revision{2});
  ASSERT_EQ(contents.objects.size(), 2U);
  EXPECT_EQ(contents.objects[0].first, pod_key("after"));
}

}  // namespace
}  // namespace muster::store
