// Damage to any file of a store is seen: each case flips or cuts one place, and the store must open
// with everything in it, or be refused with a sentence. Never smaller.
//
// MUSTER_TEST_LONG tries every byte of the MANIFEST, of the index and of the small files, a
// thousand places of the logs, and as many of the tables; otherwise a sample.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "store/engines/high_water_mark.h"
#include "store/engines/record.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"
#include "store/engines/totals.h"

namespace muster::store {
namespace {

namespace fs = std::filesystem;
using testing::create;
using testing::make_pod;
using testing::pod_key;
using testing::together;

bool is_long() { return std::getenv("MUSTER_TEST_LONG") != nullptr; }

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
void write(const std::string& file, std::string_view text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

// Everything that must not be lost: the revision, the objects, and the changes since `since`.
std::vector<std::string> summary(const Contents& contents, Revision since) {
  std::vector<std::string> all{fmt::format("revision {}", contents.revision.value)};
  for (const auto& [key, object] : contents.objects)
    all.push_back(fmt::format("{}@{} {}", key, object->revision().value, object->bytes()));
  for (const Change& change : contents.recent)
    if (change.revision > since)
      all.push_back(fmt::format("change {} of {}", change.revision.value, change.key));
  return all;
}

// The database without the engine, to bring it into states that take the engine long.
class Raw {
 public:
  explicit Raw(const std::string& store, bool writes) : store_(store) {
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, {}}, {"rev", {}}, {"idx", {}}};
    rocksdb::DB* db = nullptr;
    const std::string path = store + "/db";
    CHECK((writes ? rocksdb::DB::Open({}, path, families, &handles_, &db)
                  : rocksdb::DB::OpenForReadOnly({}, path, families, &handles_, &db))
              .ok());
    db_.reset(db);
  }
  ~Raw() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_)
      CHECK(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  // What RocksdbEngine::commit does for a new pod.
  void commit_new_pod(const std::string& name) {
    std::string text;
    CHECK(db_->Get({}, "totals", &text).ok());
    Totals totals = decode_totals(text).value();
    ++totals.revision.value;
    totals.add(pod_key(name), totals.revision);
    const std::shared_ptr<Object> pod = make_pod(name, "in a log of its own");
    encode({.block_end = totals.revision,
            .key = pod_key(name),
            .kind = "Pod",
            .version = "v1",
            .bytes = pod->bytes()},
           text);
    rocksdb::WriteBatch writes;
    writes.Put(handles_[1], encode_revision(totals.revision), text);
    writes.Put(handles_[2], pod_key(name), encode_revision(totals.revision));
    writes.Put("totals", encode(totals));
    CHECK(db_->Write({}, &writes).ok());
    CHECK(HighWaterMark::open(store_ + "/MARK").value()->raise(totals.revision));
  }
  // The next writes go to another log; the last one is still needed for the other families.
  void flush_records() { CHECK(db_->Flush({}, handles_[1]).ok()); }

  std::set<std::string> index_files() const {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::set<std::string> names;
    for (const rocksdb::LiveFileMetaData& file : files)
      if (file.column_family_name == "idx") names.insert(file.relative_filename);
    return names;
  }

 private:
  const std::string store_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

struct Tally {
  int intact = 0;
  int refused = 0;
  int lost = 0;
};

class Damage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_log_level(LogLevel::Error); }

  void SetUp() override {
    make_store();
    const Inspection whole = inspect_rocksdb_store(store_).value();
    compacted_ = whole.contents.compacted;
    wanted_ = summary(whole.contents, compacted_);
    ASSERT_GT(whole.contents.objects.size(), 50U);
    for (const auto& entry : fs::directory_iterator(store_ + "/db"))
      files_[entry.path().filename().string()] = read(entry.path());
    index_files_ = Raw(store_, false).index_files();
  }

  // Objects that only tables hold, whose history is compacted; others that only the log holds.
  void make_store() {
    {
      const std::unique_ptr<Engine> engine = open_rocksdb_engine(store_).value();
      CHECK(engine->load());
      Revision newest;
      for (int round = 0; round < 4; ++round) {
        std::vector<Transaction> batch;
        for (int i = 0; i < 20; ++i)
          batch.push_back(together(create(fmt::format("pod-{}-{}", round, i), "first")));
        for (std::size_t i = 0; i < batch.size(); i += 3)
          CHECK(engine->deposit(testing::objects_of(batch[i])));
        newest = engine->commit(batch).value().back().value();
        std::vector<Transaction> more{together(
            testing::replace(fmt::format("pod-{}-0", round), {newest.value - 19}, "second"),
            testing::remove(fmt::format("pod-{}-1", round), {newest.value - 18}))};
        CHECK(engine->deposit(testing::objects_of(more[0])));
        newest = engine->commit(more).value().front().value();
        CHECK(engine->compact({newest.value - 3}));
        // A copy flushes every family, which is what puts edits into the MANIFEST.
        CHECK(engine->copy_to(fmt::format("{}/copy-{}", temporary_.path(), round)));
      }
      // The position of compaction in the log, beside the first records of it: what makes a loss
      // in the tables look like a compaction.
      CHECK(engine->compact(newest));
    }
    Raw raw(store_, true);
    raw.commit_new_pod("one");
    raw.flush_records();
    for (int i = 0; i < 9; ++i) raw.commit_new_pod(fmt::format("late-{}", i));
    before_last_ = {.log_size = fs::file_size(newest_log()), .mark = read(store_ + "/MARK")};
    raw.commit_new_pod("last");
  }

  std::string newest_log() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(store_ + "/db"))
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
    return newest;
  }

  // RocksDB asserts some of what it reads in tables. What a process of its own says then; empty if
  // it does not die of it.
  std::string last_words() const {
    std::array<int, 2> ends{};
    CHECK(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      static_cast<void>(inspect_rocksdb_store(store_));
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1) said += byte;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0 ? "" : said;
  }

  // Looks at the store as it is now, with one thing wrong with it.
  void judge(const std::string& what, Tally& tally) {
    if (is_long() && what.find(".sst") != std::string::npos) {
      if (const std::string said = last_words(); !said.empty()) {
        EXPECT_NE(said.find("is damaged (RocksDB cannot read"), std::string::npos)
            << what << ": " << said;
        ++sentences_["a process that RocksDB ended, with a sentence"];
        ++tally.refused;
        return;
      }
    }
    const Result<Inspection> inspection = inspect_rocksdb_store(store_);
    if (!inspection) {
      EXPECT_NE(inspection.error().message.find(store_), std::string::npos)
          << what << ": " << inspection.error().message;
      ++sentences_[fs::path(what).filename().string() + ": " + kind_of(inspection.error().message)];
      ++tally.refused;
      return;
    }
    if (summary(inspection->contents, compacted_) != wanted_) {
      ADD_FAILURE() << what << ": opened smaller or otherwise changed";
      ++tally.lost;
      return;
    }
    ++tally.intact;
    if (is_long() || tally.intact % 8 == 0) expect_opens(what);
  }

  // Opened for writing, too.
  void expect_opens(const std::string& what) const {
    const std::string copy = temporary_.path() + "/opened";
    fs::copy(store_, copy, fs::copy_options::recursive);
    {
      const Result<std::unique_ptr<Engine>> engine = open_rocksdb_engine(copy);
      ASSERT_TRUE(engine) << what << ": " << engine.error().message;
      const Result<Contents> contents = (*engine)->load();
      ASSERT_TRUE(contents) << what << ": " << contents.error().message;
      EXPECT_EQ(summary(*contents, compacted_), wanted_) << what;
    }
    fs::remove_all(copy);
  }

  // The sentence without its numbers and names.
  static std::string kind_of(std::string_view message) {
    std::string kind;
    const std::size_t start = message.find('(');
    for (const char letter : message.substr(start == std::string_view::npos ? 0 : start, 70))
      if (std::isdigit(static_cast<unsigned char>(letter)) == 0) kind += letter;
    return kind;
  }

  // Flips one bit at `places` places of the file, spread evenly, and cuts it at as many lengths.
  Tally damage(const std::string& file, std::size_t places) {
    const std::string path = file.find('/') == std::string::npos ? store_ + "/db/" + file
                                                                 : store_ + "/" + file.substr(2);
    const std::string text = read(path);
    Tally tally;
    places = std::min(places, text.size());
    for (std::size_t i = 0; i < places; ++i) {
      const std::size_t at = i * text.size() / places;
      std::string flipped = text;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << (i % 8)));
      write(path, flipped);
      judge(fmt::format("{} flipped at {}", file, at), tally);
      write(path, std::string_view(text).substr(0, at));
      judge(fmt::format("{} cut to {}", file, at), tally);
      if (tally.lost > 3) break;
    }
    fs::remove(path);
    judge(file + " deleted", tally);
    write(path, text);
    fmt::print("{:28} {:6} bytes: {} intact, {} refused, {} lost\n", file, text.size(),
               tally.intact, tally.refused, tally.lost);
    return tally;
  }

  const testing::TemporaryDirectory temporary_;
  const std::string store_ = temporary_.store();
  struct BeforeLast {
    std::size_t log_size = 0;
    std::string mark;
  };
  BeforeLast before_last_;  // the store just before its last commit
  Revision compacted_;
  std::vector<std::string> wanted_;
  std::map<std::string, std::string> files_;
  std::set<std::string> index_files_;
  std::map<std::string, int> sentences_;
};

// S-D1, S-D2: 44 of 220 cuts of the MANIFEST and every cut of the log lost objects silently.
TEST_F(Damage, IsSeenWhereverItIs) {
  const std::size_t every = is_long() ? SIZE_MAX : 25;
  const std::size_t thousand = is_long() ? 1'000 : 25;
  Tally all;
  int logs = 0;
  int tables = 0;
  const auto add = [&](const Tally& tally) {
    all.intact += tally.intact;
    all.refused += tally.refused;
    all.lost += tally.lost;
  };
  for (const auto& [file, text] : files_) {
    if (file.starts_with("MANIFEST") || file == "CURRENT" || index_files_.contains(file)) {
      add(damage(file, every));
    } else if (file.ends_with(".log")) {
      add(damage(file, thousand));
      ++logs;
    } else if (file.ends_with(".sst")) {
      add(damage(file, is_long() ? 500 : 10));
      ++tables;
    } else {
      add(damage(file, is_long() ? 200 : 5));
    }
  }
  add(damage("./MARK", is_long() ? SIZE_MAX : 16));
  add(damage("./FORMAT", is_long() ? SIZE_MAX : 8));
  EXPECT_GE(logs, 2);
  EXPECT_GE(tables, 2);
  EXPECT_GE(index_files_.size(), 1U);
  EXPECT_EQ(all.lost, 0);
  EXPECT_GT(all.refused, all.intact) << "most damage matters";
  const Result<Inspection> whole = inspect_rocksdb_store(store_);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(summary(whole->contents, compacted_), wanted_) << "all is as it was";
  fmt::print("{} cases: {} intact, {} refused, {} lost\n", all.intact + all.refused + all.lost,
             all.intact, all.refused, all.lost);
  if (is_long())
    for (const auto& [sentence, count] : sentences_) fmt::print("{:6}  {}\n", count, sentence);
}

// A killed process leaves its last commit in the log, whole or in part, and not in the mark.
TEST_F(Damage, ATornEndThatWasNeverAcknowledgedStartsUnasked) {
  const std::string path = newest_log();
  const std::string log = read(path);
  ASSERT_LT(before_last_.log_size, log.size());
  write(store_ + "/MARK", before_last_.mark);
  write(path, std::string_view(log).substr(0, before_last_.log_size));
  const std::vector<std::string> before =
      summary(inspect_rocksdb_store(store_).value().contents, compacted_);
  ASSERT_LT(before.size(), wanted_.size());
  const std::size_t step = is_long() ? 1 : 9;
  for (std::size_t size = before_last_.log_size; size <= log.size(); size += step) {
    write(path, std::string_view(log).substr(0, size));
    const Result<Inspection> inspection = inspect_rocksdb_store(store_);
    ASSERT_TRUE(inspection) << size << ": " << inspection.error().message;
    const auto found = summary(inspection->contents, compacted_);
    EXPECT_TRUE(found == before || (size == log.size() && found == wanted_)) << size;
  }
  write(path, log);
  EXPECT_EQ(summary(inspect_rocksdb_store(store_).value().contents, compacted_), wanted_);
}

}  // namespace
}  // namespace muster::store
