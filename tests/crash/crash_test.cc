#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: kill is POSIX, not C++
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/entropy.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

namespace muster::store {
namespace {

// From when a writer's life is counted: its start, so that opening is cut short too, or its first
// acknowledged write, so that there is something to lose.
enum class Since { Start, FirstWrite };

// Runs crash_writer, kills it after a while without warning, and returns what it said.
std::string run_and_kill(const std::string& directory, std::uint64_t seed, Since since,
                         std::chrono::microseconds life) {
  int pipe_ends[2];
  CHECK(::pipe(pipe_ends) == 0);
  const std::string seed_text = std::to_string(seed);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    ::dup2(pipe_ends[1], STDOUT_FILENO);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    ::execl(CRASH_WRITER, CRASH_WRITER, directory.c_str(), seed_text.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(pipe_ends[1]);
  std::string said;
  char buffer[65536];
  const auto listen = [&] {
    const ssize_t got = ::read(pipe_ends[0], buffer, sizeof(buffer));
    if (got > 0) said.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  };
  if (since == Since::FirstWrite)
    while (said.find("\nok ") == std::string::npos && listen()) {
    }
  std::thread killer([&] {
    std::this_thread::sleep_for(life);
    ::kill(child, SIGKILL);
  });
  while (listen()) {
  }
  ::close(pipe_ends[0]);
  killer.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      << "the writer ended by itself, with status " << status;
  return said;
}

// What a store must hold, as the writer's words tell it.
class Witness {
 public:
  struct Block {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::vector<std::pair<std::string, std::string>> writes;  // key, text; "" deletes
  };

  void hear(const std::string& said) {
    std::istringstream lines(said.substr(0, said.rfind('\n') + 1));  // the last line may be cut
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      if (verb == "ok") {
        words >> acknowledged_;
        continue;
      }
      Block block;
      words >> block.first >> block.last;
      for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        block.writes.emplace_back(word.substr(0, equals), word.substr(equals + 1));
      }
      tried_.push_back(std::move(block));
    }
  }

  // Every acknowledged block must be there whole. Of those that were only tried, a batch is one
  // write to disk: all of it or nothing.
  void check(const Contents& contents) {
    const std::int64_t found = contents.revision.value;
    EXPECT_GE(found, acknowledged_) << "acknowledged writes are gone";
    std::int64_t last_tried = acknowledged_;
    for (const Block& block : tried_) {
      last_tried = block.last;
      if (block.last > found) continue;
      for (std::size_t i = 0; i < block.writes.size(); ++i) {
        const auto& [key, text] = block.writes[i];
        if (text.empty())
          state_.erase(key);
        else
          state_[key] = {text, block.first + static_cast<std::int64_t>(i)};
      }
    }
    EXPECT_TRUE(found == acknowledged_ || found == last_tried)
        << "revision " << found << " is half of a batch: " << acknowledged_ << " to " << last_tried;
    tried_.clear();
    acknowledged_ = found;

    std::map<std::string, std::pair<std::string, std::int64_t>> holds;
    for (const auto& [key, object] : contents.objects) {
      ASSERT_EQ(object->meta().annotations.size(), 1U);
      holds[key] = {object->meta().annotations.begin()->second, object->revision().value};
    }
    EXPECT_TRUE(holds == state_) << "the objects are not those that were committed";
    std::int64_t next = contents.compacted.value;
    for (const Change& change : contents.recent) EXPECT_EQ(change.revision.value, ++next);
    EXPECT_EQ(next, found) << "the recent changes have a gap";
  }

 private:
  std::map<std::string, std::pair<std::string, std::int64_t>> state_;  // key → text, revision
  std::vector<Block> tried_;                                           // since the last check
  std::int64_t acknowledged_ = 0;
};

TEST(Crash, KeepsEveryAcknowledgedWriteAndNothingByHalves) {
  const int rounds = std::getenv("MUSTER_TEST_LONG") != nullptr ? 200 : 10;
  const testing::TemporaryDirectory temporary;
  const auto seed = static_cast<std::uint64_t>(::getpid());
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  SeededEntropy entropy(seed);
  Witness witness;
  int rounds_that_wrote = 0;
  std::int64_t last = 0;
  for (int round = 0; round < rounds; ++round) {
    const Since since = round % 4 == 0 ? Since::Start : Since::FirstWrite;
    const std::chrono::microseconds life(entropy.below(150'000));
    witness.hear(
        run_and_kill(temporary.store(), seed + static_cast<std::uint64_t>(round), since, life));
    const Result<std::unique_ptr<Engine>> engine = open_rocksdb_engine(temporary.store());
    ASSERT_TRUE(engine) << engine.error().message;
    const Result<Contents> contents = (*engine)->load();
    ASSERT_TRUE(contents) << contents.error().message;
    witness.check(*contents);
    if (HasFailure()) break;
    if (contents->revision.value > last) ++rounds_that_wrote;
    last = contents->revision.value;
  }
  EXPECT_GE(rounds_that_wrote, rounds / 2) << "too few writers lived long enough to prove anything";
  RecordProperty("revisions", std::to_string(last));
  fmt::print("{} rounds, {} of which wrote, {} revisions\n", rounds, rounds_that_wrote, last);
}

}  // namespace
}  // namespace muster::store
