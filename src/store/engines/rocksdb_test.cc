#include "store/engines/rocksdb.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <signal.h>  // NOLINT: SIGXFSZ is POSIX, not C++
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "store/engines/deposits.h"
#include "store/engines/record.h"
#include "store/engines/testing.h"
#include "store/engines/totals.h"

// What only the engine on disk promises: which directories it takes, and what it does about a bad
// disk.
namespace muster::store {
namespace {

namespace fs = std::filesystem;
using testing::create;
using testing::pod_key;
using testing::replace;
using testing::TemporaryDirectory;
using testing::together;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
void write(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}
// Makes FORMAT say that the store is in another format than it is.
void claim_format(const fs::path& store, char digit) {
  std::string text = read(store / "FORMAT");
  CHECK(text.ends_with("\nformat 3\n"));
  text[text.size() - 2] = digit;
  write(store / "FORMAT", text);
}
// Every file below a directory, with a hash of what stands in it.
std::map<std::string, std::size_t> picture(const fs::path& directory) {
  std::map<std::string, std::size_t> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    files[entry.path().string()] =
        entry.is_regular_file() ? std::hash<std::string>()(read(entry.path())) : 0;
  return files;
}

// A store with some history, closed again.
void make_store(const std::string& directory, int objects = 3) {
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(directory).value();
  CHECK(engine->load());
  for (int i = 0; i < objects; ++i) {
    std::vector<Transaction> batch{
        together(create(fmt::format("pod-{}", i), std::string(1000, 'x')))};
    CHECK(engine->commit(batch).value().front());
  }
}

// Why the directory is refused, by opening or by loading; empty if it is not.
std::string refusal(const std::string& directory) {
  Result<std::unique_ptr<Engine>> engine = open_rocksdb_engine(directory);
  if (!engine) return engine.error().message;
  const Result<Contents> contents = (*engine)->load();
  return contents ? "" : contents.error().message;
}

TEST(RocksdbEngine, MakesItsDirectoryAndSaysWhatItIs) {
  const TemporaryDirectory temporary;
  const std::string directory = temporary.path() + "/deep/down/store/";
  EXPECT_EQ(refusal(directory), "");
  EXPECT_TRUE(read(directory + "FORMAT").ends_with("\nformat 3\n"));
  EXPECT_FALSE(fs::exists(directory + "FORMAT.new"));
  EXPECT_EQ(refusal(directory), "") << "and takes it again";
}

TEST(RocksdbEngine, TakesAnEmptyDirectoryAndAnEmptyFileSystem) {
  const TemporaryDirectory temporary;
  fs::create_directories(temporary.store() + "/lost+found");
  EXPECT_EQ(refusal(temporary.store()), "");
}

TEST(RocksdbEngine, RefusesANewerFormatUntouched) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  write(temporary.store() + "/FORMAT",
        "This directory holds a Muster store, of a kind to come.\nformat 7\nmore\n");
  const auto before = picture(temporary.store());
  EXPECT_EQ(
      refusal(temporary.store()),
      fmt::format(
          "the data directory {} has format 7, but this version of Muster knows formats up to "
          "3: run the newer version that wrote it, or give another directory",
          temporary.store()));
  EXPECT_EQ(picture(temporary.store()), before);
}

TEST(RocksdbEngine, RefusesSomebodyElsesDirectoryUntouched) {
  const TemporaryDirectory temporary;
  fs::create_directories(temporary.store());
  write(temporary.store() + "/thesis.tex", "chapter one");
  const auto before = picture(temporary.store());
  EXPECT_EQ(refusal(temporary.store()),
            fmt::format(
                "the directory {} is not empty and holds no Muster store (it has thesis.tex): give "
                "an empty or a new directory",
                temporary.store()));
  EXPECT_EQ(picture(temporary.store()), before);
}

TEST(RocksdbEngine, RefusesAPathThatIsNoDirectory) {
  const TemporaryDirectory temporary;
  write(temporary.store(), "a file");
  EXPECT_EQ(refusal(temporary.store()),
            fmt::format(
                "the data directory {} cannot be used (Not a directory): make it a directory that "
                "user {} may read and write, or give another one",
                temporary.store(), ::geteuid()));
}

// A user who may not do everything, where the tests run as root.
class Nobody {
 public:
  explicit Nobody(const std::string& directory) {
    if (::geteuid() != 0) return;
    CHECK(::chown(directory.c_str(), 65534, 65534) == 0);
    CHECK(::seteuid(65534) == 0);
  }
  ~Nobody() { CHECK(::seteuid(::getuid()) == 0); }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
};

TEST(RocksdbEngine, RefusesADirectoryItMayNotReadOrWrite) {
  const TemporaryDirectory temporary;
  const Nobody nobody(temporary.path());
  make_store(temporary.store());
  for (const mode_t mode : {0500U, 0300U, 0000U}) {
    CHECK(::chmod(temporary.store().c_str(), mode) == 0);
    EXPECT_EQ(
        refusal(temporary.store()),
        fmt::format("the data directory {} cannot be used (Permission denied): make it a directory "
                    "that user {} may read and write, or give another one",
                    temporary.store(), ::geteuid()));
  }
  CHECK(::chmod(temporary.store().c_str(), 0700) == 0);
  EXPECT_EQ(refusal(temporary.store()), "");
}

TEST(RocksdbEngine, RefusesADirectoryThatIsInUse) {
  const TemporaryDirectory temporary;
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    EXPECT_EQ(
        refusal(temporary.store()),
        fmt::format("the data directory {} is in use by another process: stop that one, or give "
                    "another directory",
                    temporary.store()));
    std::vector<Transaction> batch{together(create("a"))};
    EXPECT_TRUE(engine->commit(batch)) << "and leaves the one who uses it alone";
  }
  EXPECT_EQ(refusal(temporary.store()), "");
}

TEST(RocksdbEngine, RebuildsAStoreWhereMakingItWasCutShort) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  fs::rename(temporary.store() + "/FORMAT", temporary.store() + "/FORMAT.new");
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
  EXPECT_EQ(engine->load().value().revision, Revision{0});
}

TEST(RocksdbEngine, RefusesAStoreWhoseDatabaseIsGone) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  fs::remove_all(temporary.store() + "/db");
  EXPECT_NE(refusal(temporary.store()).find("is damaged"), std::string::npos);
}

// Opens the database behind the engine's back.
void edit(const std::string& directory,
          const std::function<void(rocksdb::DB&, rocksdb::ColumnFamilyHandle* rev,
                                   rocksdb::ColumnFamilyHandle* idx)>& change) {
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, {}}, {"rev", {}}, {"idx", {}}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  CHECK(rocksdb::DB::Open({}, directory + "/db", families, &handles, &db).ok());
  const std::unique_ptr<rocksdb::DB> owner(db);
  change(*db, handles[1], handles[2]);
  for (rocksdb::ColumnFamilyHandle* handle : handles)
    CHECK(db->DestroyColumnFamilyHandle(handle).ok());
}

TEST(RocksdbEngine, RefusesRecordsAndIndexThatDoNotFitTogether) {
  using Edit =
      std::function<void(rocksdb::DB&, rocksdb::ColumnFamilyHandle*, rocksdb::ColumnFamilyHandle*)>;
  struct Case {
    std::string name;
    Edit change;
    std::string says;
  };
  const rocksdb::WriteOptions options;
  const std::vector<Case> cases = {
      {"a lost record",
       [&](rocksdb::DB& db, auto* rev, auto*) { db.Delete(options, rev, encode_revision({2})); },
       "revision 2 is missing"},
      {"a lost last record",
       [&](rocksdb::DB& db, auto* rev, auto*) { db.Delete(options, rev, encode_revision({3})); },
       "revision 3 was acknowledged, but the log ends at 2"},
      {"a garbled record",
       [&](rocksdb::DB& db, auto* rev, auto*) { db.Put(options, rev, encode_revision({2}), "?"); },
       "a record is unreadable"},
      {"an index entry without object",
       [&](rocksdb::DB& db, auto*, auto* idx) { db.Put(options, idx, "x", encode_revision({2})); },
       "objects named in the index are missing"},
      {"an index entry that names another's object",
       [&](rocksdb::DB& db, auto*, auto* idx) {
         db.Put(options, idx, pod_key("pod-1"), encode_revision({3}));
         db.Put(options, idx, pod_key("pod-2"), encode_revision({2}));
       },
       "revision 2 is not the object its index entry names"},
      // S-D1: nothing compared the newest record of a key with the index.
      {"a lost index entry",
       [&](rocksdb::DB& db, auto*, auto* idx) { db.Delete(options, idx, pod_key("pod-1")); },
       "the index lacks pods/default/pod-1, whose newest record is revision 2"},
      {"an object that is gone from records and index alike",
       [&](rocksdb::DB& db, auto* rev, auto* idx) {
         db.Delete(options, rev, encode_revision({1}));
         db.Delete(options, idx, pod_key("pod-0"));
         db.Put(options, "compacted", encode_revision({1}));
       },
       "at revision 3 there were 3 objects, 2 are left"},
      {"totals of another time",
       [&](rocksdb::DB& db, auto*, auto*) {
         db.Put(options, "totals", encode(Totals{.revision = {2}, .objects = 2, .sum = 0}));
       },
       "the totals are those of revision 2, but the newest is 3"},
      {"no totals", [&](rocksdb::DB& db, auto*, auto*) { db.Delete(options, "totals"); },
       "the totals are missing"},
      {"a garbled index entry",
       [&](rocksdb::DB& db, auto*, auto* idx) { db.Put(options, idx, pod_key("pod-1"), "?"); },
       "the index entry of pods/default/pod-1 is unreadable"},
      {"an object that is no JSON",
       [&](rocksdb::DB& db, auto* rev, auto*) {
         std::string text;
         encode({.block_end = {2},
                 .key = pod_key("pod-1"),
                 .kind = "Pod",
                 .version = "v1",
                 .bytes = "{"},
                text);
         db.Put(options, rev, encode_revision({2}), text);
       },
       "pods/default/pod-1 at revision 2"},
  };
  for (const Case& wanted : cases) {
    const TemporaryDirectory temporary;
    make_store(temporary.store());
    edit(temporary.store(), wanted.change);
    const std::string says = refusal(temporary.store());
    EXPECT_TRUE(
        says.starts_with(fmt::format("the data directory {} is damaged (", temporary.store())))
        << wanted.name << ": " << says;
    EXPECT_NE(says.find(wanted.says), std::string::npos) << wanted.name << ": " << says;
  }
}

TEST(RocksdbEngine, RefusesFilesWithFlippedBitsUntouched) {
  const TemporaryDirectory temporary;
  make_store(temporary.store(), 50);
  edit(temporary.store(), [](rocksdb::DB& db, auto* rev, auto* idx) {  // some data in tables too
    CHECK(db.Flush({}, {rev, idx}).ok());
  });
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    for (std::int64_t i = 0; i < 50; ++i) {
      std::vector<Transaction> batch{
          together(replace(fmt::format("pod-{}", i), {i + 1}, std::string(1000, 'y')))};
      ASSERT_TRUE(engine->commit(batch).value().front());
    }
  }
  int damaged = 0;
  for (const auto& [name, hash] : picture(temporary.store() + "/db")) {
    const std::string text = read(name);
    const std::string extension = fs::path(name).extension();
    const bool is_data = extension == ".sst" || extension == ".log" ||
                         fs::path(name).filename().string().starts_with("MANIFEST");
    if (!is_data || text.empty()) continue;
    std::string bad = text;
    bad[bad.size() / 3] = static_cast<char>(bad[bad.size() / 3] ^ 0x10);
    write(name, bad);
    const auto before = picture(temporary.store());
    const std::string says = refusal(temporary.store());
    if (says.empty()) {
      ADD_FAILURE() << name << " was taken with a flipped bit";
    } else {
      EXPECT_EQ(picture(temporary.store()), before) << name;
      ++damaged;
    }
    write(name, text);
  }
  EXPECT_GE(damaged, 3) << "tables, log and manifest were there to damage";
  EXPECT_EQ(refusal(temporary.store()), "") << "all bits are back";
}

// A store as the first format left it: neither mark nor totals.
TEST(RocksdbEngine, UpgradesTheFirstFormat) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  edit(temporary.store(), [](rocksdb::DB& db, auto*, auto*) { db.Delete({}, "totals"); });
  fs::remove(temporary.store() + "/MARK");
  EXPECT_NE(refusal(temporary.store()).find("MARK cannot be read"), std::string::npos)
      << "a format that promises a mark must have one";
  claim_format(temporary.store(), '1');

  EXPECT_FALSE(inspect_rocksdb_store(temporary.store()).value().has_mark);
  EXPECT_FALSE(fs::exists(temporary.store() + "/MARK")) << "reading changes nothing";
  EXPECT_EQ(refusal(temporary.store()), "");
  EXPECT_TRUE(read(temporary.store() + "/FORMAT").ends_with("\nformat 3\n"));
  const Inspection inspection = inspect_rocksdb_store(temporary.store()).value();
  EXPECT_TRUE(inspection.has_mark);
  EXPECT_EQ(inspection.contents.revision, Revision{3});
  EXPECT_EQ(inspection.records, 3U);
  EXPECT_EQ(inspection.index_entries, 3U);
}

// One flipped bit makes a 1 of the 3, and a store without marks need not have one.
TEST(RocksdbEngine, AFlippedFormatHidesNoLostMark) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  claim_format(temporary.store(), '1');
  const std::string mark = read(temporary.store() + "/MARK");
  fs::remove(temporary.store() + "/MARK");
  const auto before = picture(temporary.store());
  EXPECT_NE(refusal(temporary.store()).find("FORMAT was changed"), std::string::npos);
  EXPECT_FALSE(inspect_rocksdb_store(temporary.store()));
  EXPECT_EQ(picture(temporary.store()), before);

  // With its mark the store is checked as if nothing had happened to FORMAT.
  write(temporary.store() + "/MARK", mark);
  EXPECT_TRUE(inspect_rocksdb_store(temporary.store()).value().has_mark);
  EXPECT_EQ(refusal(temporary.store()), "");
  EXPECT_TRUE(read(temporary.store() + "/FORMAT").ends_with("\nformat 3\n"));
}

// An upgrade that was killed between the totals and the mark.
TEST(RocksdbEngine, GoesOnWithAnUpgrade) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  fs::copy_file(temporary.store() + "/FORMAT", temporary.store() + "/FORMAT.next");
  claim_format(temporary.store(), '1');
  fs::remove(temporary.store() + "/MARK");
  EXPECT_EQ(refusal(temporary.store()), "");
  EXPECT_TRUE(read(temporary.store() + "/FORMAT").ends_with("\nformat 3\n"));
  EXPECT_TRUE(inspect_rocksdb_store(temporary.store()).value().has_mark);
}

TEST(RocksdbEngine, UpgradesAFormatWithoutDeposits) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  claim_format(temporary.store(), '2');
  EXPECT_EQ(inspect_rocksdb_store(temporary.store()).value().contents.revision, Revision{3});
  EXPECT_EQ(refusal(temporary.store()), "");
  EXPECT_TRUE(read(temporary.store() + "/FORMAT").ends_with("\nformat 3\n"));
}

// S-M6: `store check` rewrote the directory.
TEST(RocksdbEngine, IsInspectedWithoutATrace) {
  const TemporaryDirectory temporary;
  const Nobody nobody(temporary.path());
  make_store(temporary.store());
  const auto before = picture(temporary.store());
  for (const auto& entry : fs::recursive_directory_iterator(temporary.store()))
    fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0500) : fs::perms(0400));
  fs::permissions(temporary.store(), fs::perms(0500));
  const Result<Inspection> inspection = inspect_rocksdb_store(temporary.store());
  ASSERT_TRUE(inspection) << inspection.error().message;
  EXPECT_EQ(inspection->contents.objects.size(), 3U);
  EXPECT_EQ(picture(temporary.store()), before);
  fs::permissions(temporary.store(), fs::perms(0700));
  fs::permissions(temporary.store() + "/db", fs::perms(0700));

  EXPECT_FALSE(inspect_rocksdb_store(temporary.path() + "/nowhere"));
  EXPECT_FALSE(fs::exists(temporary.path() + "/nowhere"));
  fs::create_directory(temporary.path() + "/empty");
  EXPECT_FALSE(inspect_rocksdb_store(temporary.path() + "/empty"));
  EXPECT_TRUE(fs::is_empty(temporary.path() + "/empty"));
}

TEST(RocksdbEngine, CopiesItselfBesideCommits) {
  const TemporaryDirectory temporary;
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
  ASSERT_TRUE(engine->load());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::int64_t i = 0; !done; ++i) {
      std::vector<Transaction> batch{
          together(replace("left", {2 * i > 0 ? 2 * i - 1 : 0}), replace("right", {2 * i}))};
      ASSERT_TRUE(engine->commit(batch).value().front());
      if (i % 20 == 19) {
        ASSERT_TRUE(engine->compact({2 * i}));
      }
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::string copy = fmt::format("{}/copy-{}", temporary.path(), i);
    const Result<void> copied = engine->copy_to(copy);
    ASSERT_TRUE(copied) << copied.error().message;
    const Result<Inspection> inspection = inspect_rocksdb_store(copy);
    EXPECT_TRUE(inspection) << inspection.error().message;
    EXPECT_FALSE(engine->copy_to(copy)) << "nothing is written over";
  }
  done = true;
  writer.join();
}

TEST(RocksdbEngine, KeepsObjectsOfUnknownKindsAsTheyAre) {
  const TemporaryDirectory temporary;
  make_store(temporary.store());
  std::string text;
  encode({.block_end = {4},
          .key = "widgets/default/w",
          .group = "future.example",
          .kind = "Widget",
          .version = "v9",
          .bytes = "whatever it is"},
         text);
  edit(temporary.store(), [&](rocksdb::DB& db, auto* rev, auto* idx) {
    CHECK(db.Put({}, rev, encode_revision({4}), text).ok());
    CHECK(db.Put({}, idx, "widgets/default/w", encode_revision({4})).ok());
    std::string known;
    CHECK(db.Get({}, "totals", &known).ok());
    Totals totals = decode_totals(known).value();
    totals.add("widgets/default/w", {4});
    totals.revision = {4};
    CHECK(db.Put({}, "totals", encode(totals)).ok());
  });
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    const Contents contents = engine->load().value();
    EXPECT_EQ(contents.objects.size(), 3U);
    EXPECT_EQ(contents.revision, Revision{4});
    EXPECT_EQ(contents.recent.size(), 3U);
    std::vector<Transaction> batch{
        together(
            Write{.key = "widgets/default/w", .object = testing::make_pod("w"), .expected = {4}}),
        together(create("next"))};
    const std::vector<Result<Revision>> outcomes = engine->commit(batch).value();
    EXPECT_EQ(outcomes[0].error().reason, Reason::Conflict) << "it is not overwritten";
    EXPECT_EQ(outcomes[1].value(), Revision{5});
    ASSERT_TRUE(engine->compact({5}));
  }
  EXPECT_EQ(refusal(temporary.store()), "");
  edit(temporary.store(), [&](rocksdb::DB& db, auto* rev, auto*) {
    std::string kept;
    ASSERT_TRUE(db.Get({}, rev, encode_revision({4}), &kept).ok());
    EXPECT_EQ(kept, text);
  });
}

TEST(RocksdbEngine, LeavesNoRecordBehindThatCompactionShouldRemove) {
  const TemporaryDirectory temporary;
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    std::vector<Transaction> batch{together(create("a")), together(replace("a", {1})),
                                   together(create("b")), together(testing::remove("b", {3})),
                                   together(replace("a", {2}))};
    ASSERT_TRUE(engine->commit(batch));
    ASSERT_TRUE(engine->compact({5}));
  }
  edit(temporary.store(), [&](rocksdb::DB& db, auto* rev, auto*) {
    std::vector<std::int64_t> left;
    const std::unique_ptr<rocksdb::Iterator> records(db.NewIterator({}, rev));
    for (records->SeekToFirst(); records->Valid(); records->Next())
      left.push_back(decode_revision(records->key().ToString())->value);
    EXPECT_EQ(left, (std::vector<std::int64_t>{5}));
  });
}

// Text that cannot be compressed.
std::string noise(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, ' ');
  for (char& letter : text) letter = static_cast<char>('!' + random() % 90);
  std::ranges::replace(text, '\\', '~');
  std::ranges::replace(text, '"', '~');
  return text;
}

std::size_t disk_bytes(const std::string& directory) {
  std::size_t bytes = 0;
  std::error_code gone;  // files go while they are counted
  for (const auto& entry : fs::directory_iterator(directory + "/db")) {
    const std::uintmax_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

TEST(RocksdbEngine, GivesTheRoomOfForgottenHistoryBack) {
  constexpr std::size_t kSize = std::size_t{1} << 20U;
  constexpr std::int64_t kVersions = 100;
  const TemporaryDirectory temporary;
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
  ASSERT_TRUE(engine->load());
  for (std::int64_t i = 0; i < kVersions; ++i) {
    std::vector<Transaction> batch{
        together(replace("a", {i}, noise(kSize, static_cast<std::uint32_t>(i))))};
    ASSERT_TRUE(engine->commit(batch).value().front());
  }
  EXPECT_GT(engine->history().bytes, (kVersions - 1) * kSize);
  EXPECT_GT(disk_bytes(temporary.store()), (kVersions - 1) * kSize);
  ASSERT_EQ(engine->compact({kVersions}).value(), Revision{kVersions});
  EXPECT_EQ(engine->history().bytes, 0U);
  // The database does it beside us.
  for (int tries = 0; disk_bytes(temporary.store()) > 10 * kSize && tries < 600; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_LT(disk_bytes(temporary.store()), 10 * kSize);
}

// --- deposits ---

std::vector<std::int64_t> deposits_in(const std::string& directory) {
  std::vector<std::int64_t> numbers;
  edit(directory, [&](rocksdb::DB& db, auto*, auto*) {
    const std::unique_ptr<rocksdb::Iterator> entries(db.NewIterator({}));
    for (entries->Seek("deposit/"); entries->Valid(); entries->Next())
      if (const auto number = deposit_number(entries->key().ToStringView()))
        numbers.push_back(*number);
  });
  return numbers;
}

std::size_t log_bytes(const std::string& directory) {
  std::size_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory + "/db"))
    if (entry.path().extension() == ".log") bytes += entry.file_size();
  return bytes;
}

// A transaction of so many pods, each of a thousand bytes and more.
Transaction many_pods(int count) {
  Transaction transaction;
  for (int i = 0; i < count; ++i)
    transaction.writes.push_back(create(fmt::format("pod-{}", i), std::string(1000, 'x')));
  return transaction;
}

TEST(RocksdbEngine, CommitsWhatWasDepositedWithoutItsBytes) {
  const TemporaryDirectory temporary;
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
  ASSERT_TRUE(engine->load());
  Transaction transaction = many_pods(100);
  ASSERT_TRUE(engine->deposit(testing::objects_of(transaction)));
  const std::size_t before = log_bytes(temporary.store());
  EXPECT_GT(before, 100'000U);
  ASSERT_TRUE(engine->commit(std::span(&transaction, 1)).value().front());
  EXPECT_LT(log_bytes(temporary.store()), before + 25'000U);
}

TEST(RocksdbEngine, RemovesDepositsWithTheirRecords) {
  const TemporaryDirectory temporary;
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    Transaction made = many_pods(4);
    ASSERT_TRUE(engine->deposit(testing::objects_of(made)));
    ASSERT_TRUE(engine->commit(std::span(&made, 1)).value().front());
    std::vector<Transaction> more{
        together(replace("pod-0", {1}), testing::remove("pod-1", {2})),
    };
    ASSERT_TRUE(engine->commit(more).value().front());
  }
  EXPECT_EQ(deposits_in(temporary.store()), (std::vector<std::int64_t>{1, 2, 3, 4}));
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    ASSERT_EQ(engine->compact({6}).value(), Revision{6});
  }
  EXPECT_EQ(deposits_in(temporary.store()), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(inspect_rocksdb_store(temporary.store()).value().contents.objects.size(), 3U);
}

// Refused requests and killed processes leave deposits that nobody commits.
TEST(RocksdbEngine, RemovesDepositsThatNobodyCommits) {
  const TemporaryDirectory temporary;
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(engine->deposit(testing::objects_of(many_pods(5))));
  }
  const std::vector<std::int64_t> killed = deposits_in(temporary.store());
  EXPECT_LE(killed.size(), 10U) << "each deposit removes what those before it left";
  EXPECT_GE(killed.size(), 5U);
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    std::vector<Transaction> batch{many_pods(2)};
    ASSERT_TRUE(engine->deposit(testing::objects_of(batch[0])));
    ASSERT_TRUE(engine->commit(batch).value().front());
    ASSERT_EQ(engine->compact({2}).value(), Revision{2});
  }
  EXPECT_EQ(deposits_in(temporary.store()),
            (std::vector<std::int64_t>{killed.back() + 1, killed.back() + 2}));
}

TEST(RocksdbEngine, RefusesAStoreWithoutTheDepositsThatItsRecordsName) {
  using Edit = std::function<void(rocksdb::DB&)>;
  const std::vector<std::pair<Edit, std::string>> cases = {
      {[](rocksdb::DB& db) { db.Delete({}, deposit_key(2)); },
       "the object of revision 2 cannot be read"},
      {[](rocksdb::DB& db) {
         std::string other;
         CHECK(db.Get({}, deposit_key(1), &other).ok());
         db.Put({}, deposit_key(2), other);
       },
       "the object of revision 2 is not the one that was written"},
      {[](rocksdb::DB& db) { db.Put({}, "deposit/x", "?"); },
       "the name of a deposit is unreadable"},
  };
  for (const auto& [change, wanted] : cases) {
    const TemporaryDirectory temporary;
    {
      const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
      ASSERT_TRUE(engine->load());
      Transaction made = many_pods(3);
      ASSERT_TRUE(engine->deposit(testing::objects_of(made)));
      ASSERT_TRUE(engine->commit(std::span(&made, 1)).value().front());
    }
    edit(temporary.store(), [&](rocksdb::DB& db, auto*, auto*) { change(db); });
    const std::string says = refusal(temporary.store());
    EXPECT_NE(says.find(wanted), std::string::npos) << wanted << ": " << says;
  }
}

// A full disk, played by a limit on file sizes (for which a write gets an error once SIGXFSZ is
// ignored).
class FullDisk {
 public:
  FullDisk() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = 16;
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

TEST(RocksdbEngine, ReportsAFullDiskAndLosesNothing) {
  const TemporaryDirectory temporary;
  std::size_t told = 0;
  {
    const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
    ASSERT_TRUE(engine->load());
    engine->set_sink([&](std::span<const Change> changes) { told += changes.size(); });
    std::vector<Transaction> before{together(create("before"))};
    ASSERT_TRUE(engine->commit(before));
    std::vector<Transaction> refused{together(create("refused", std::string(100'000, 'x')))};
    {
      const FullDisk full;
      const auto outcome = engine->commit(refused);
      ASSERT_FALSE(outcome);
      EXPECT_TRUE(outcome.error().message.starts_with(
          fmt::format("the store in {} cannot be written (", temporary.store())))
          << outcome.error().message;
      EXPECT_EQ(refused[0].writes[0].object->revision(), Revision{0});
      EXPECT_FALSE(engine->commit(refused)) << "and still";
      EXPECT_EQ(told, 1U);
    }
    // Whether the database recovers by itself is up to the error; it must be one or the other.
    std::vector<Transaction> after{together(create("after"))};
    if (const auto outcome = engine->commit(after)) {
      EXPECT_EQ(outcome->front().value(), Revision{2});
    }
  }
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(temporary.store()).value();
  const Contents contents = engine->load().value();
  EXPECT_GE(contents.revision, Revision{1});
  EXPECT_EQ(contents.recent.front().key, pod_key("before"));
  for (const auto& [key, object] : contents.objects) EXPECT_NE(key, pod_key("refused"));
  std::vector<Transaction> last{together(create("last"))};
  EXPECT_EQ(engine->commit(last)->front().value().value, contents.revision.value + 1);
}

}  // namespace
}  // namespace muster::store
