#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

// What one slice of compaction does, whatever the history looks like (S-M8: a pass over 190,000
// revisions used to block writes for 446 ms).
namespace muster::store {
namespace {

using testing::create;
using testing::objects_of;
using testing::replace;
using testing::together;

// Bytes that this thread has read from files and written to them; background threads have their
// own.
thread_local std::size_t bytes_read = 0;
thread_local std::size_t bytes_written = 0;

// NOLINTBEGIN(readability-identifier-naming): RocksDB's names
class CountedOutput final : public rocksdb::WritableFileWrapper {
 public:
  explicit CountedOutput(std::unique_ptr<rocksdb::WritableFile> file)
      : WritableFileWrapper(file.get()), file_(std::move(file)) {}

  rocksdb::Status Append(const rocksdb::Slice& data) override {
    bytes_written += data.size();
    return WritableFileWrapper::Append(data);
  }
  rocksdb::Status Append(const rocksdb::Slice& data,
                         const rocksdb::DataVerificationInfo& info) override {
    bytes_written += data.size();
    return WritableFileWrapper::Append(data, info);
  }

 private:
  const std::unique_ptr<rocksdb::WritableFile> file_;
};

class CountedInput final : public rocksdb::RandomAccessFile {
 public:
  explicit CountedInput(std::unique_ptr<rocksdb::RandomAccessFile> file) : file_(std::move(file)) {}

  rocksdb::Status Read(std::uint64_t offset, std::size_t size, rocksdb::Slice* result,
                       char* scratch) const override {
    bytes_read += size;
    return file_->Read(offset, size, result, scratch);
  }

 private:
  const std::unique_ptr<rocksdb::RandomAccessFile> file_;
};

class CountingEnv final : public rocksdb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* result,
                                  const rocksdb::EnvOptions& options) override {
    std::unique_ptr<rocksdb::WritableFile> file;
    rocksdb::Status status = EnvWrapper::NewWritableFile(name, &file, options);
    if (status.ok()) *result = std::make_unique<CountedOutput>(std::move(file));
    return status;
  }
  rocksdb::Status NewRandomAccessFile(const std::string& name,
                                      std::unique_ptr<rocksdb::RandomAccessFile>* result,
                                      const rocksdb::EnvOptions& options) override {
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    rocksdb::Status status = EnvWrapper::NewRandomAccessFile(name, &file, options);
    if (status.ok()) *result = std::make_unique<CountedInput>(std::move(file));
    return status;
  }
};
// NOLINTEND(readability-identifier-naming)

class CompactionSlice : public ::testing::Test {
 protected:
  CompactionSlice() : engine_(open_rocksdb_engine(temporary_.store(), &env_).value()) {
    EXPECT_TRUE(engine_->load());
  }

  std::string name(std::int64_t i) const { return fmt::format("pod-{}", i); }
  // Commits a thousand writes at once, as `write` makes them from how many there were before.
  template <typename MakeWrite>
  void commit(std::int64_t count, MakeWrite write) {
    for (std::int64_t done = 0; done < count;) {
      std::vector<Transaction> batch;
      for (int i = 0; i < 1'000 && done < count; ++i) batch.push_back(together(write(done++)));
      const std::vector<Result<Revision>> outcomes = engine_->commit(batch).value();
      for (const Result<Revision>& outcome : outcomes) {
        ASSERT_TRUE(outcome) << outcome.error().message;
        newest_ = *outcome;
      }
    }
  }

  // Forgets all of it, and counts what each slice does.
  void expect_small_slices() {
    constexpr std::size_t kKey = 40;  // bytes that the removal of a key takes in the log
    std::size_t slices = 0;
    for (Revision at; at < newest_; ++slices) {
      const std::size_t before = engine_->history().changes;
      bytes_read = bytes_written = 0;
      at = engine_->compact(newest_).value();
      EXPECT_LE(before - engine_->history().changes, kCompactionSlice);
      // Of each change what it replaced and itself, with their deposits.
      EXPECT_LE(bytes_written, 4 * kKey * kCompactionSlice);
      EXPECT_EQ(bytes_read, 0U) << "what must be known is in memory";
    }
    EXPECT_EQ(slices,
              (static_cast<std::size_t>(newest_.value) + kCompactionSlice - 1) / kCompactionSlice);
    EXPECT_EQ(engine_->history().changes, 0U);
  }

  static constexpr std::int64_t kMany = 20'000;

  const testing::TemporaryDirectory temporary_;
  CountingEnv env_;
  std::unique_ptr<Engine> engine_;
  Revision newest_;
};

TEST_F(CompactionSlice, IsSmallForOneKeyOfManyVersions) {
  commit(kMany, [&](std::int64_t i) { return replace("a", {i}); });
  expect_small_slices();
}

TEST_F(CompactionSlice, IsSmallForManyKeysOfOneVersion) {
  commit(kMany, [&](std::int64_t i) { return create(name(i)); });
  expect_small_slices();
}

TEST_F(CompactionSlice, IsSmallForManyKeysThatCameAndWent) {
  constexpr std::int64_t kKeys = kMany / 2;
  commit(kKeys, [&](std::int64_t i) { return create(name(i)); });
  commit(kKeys, [&](std::int64_t i) { return testing::remove(name(i), {i + 1}); });
  expect_small_slices();
}

TEST_F(CompactionSlice, IsSmallForOneTransactionOfManyObjects) {
  constexpr std::int64_t kKeys = 5'000;
  for (std::int64_t round = 0; round < 2; ++round) {
    Transaction all;
    for (std::int64_t i = 0; i < kKeys; ++i)
      all.writes.push_back(replace(name(i), {round == 0 ? 0 : i + 1}, std::string(1'000, 'x')));
    ASSERT_TRUE(engine_->deposit(objects_of(all)));
    newest_ = engine_->commit(std::span(&all, 1)).value().front().value();
  }
  expect_small_slices();
}

TEST_F(CompactionSlice, IsSmallForLargeObjects) {
  commit(40, [&](std::int64_t i) { return replace("a", {i}, std::string(1U << 20U, 'x')); });
  expect_small_slices();
}

}  // namespace
}  // namespace muster::store
