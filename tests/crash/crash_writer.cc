// Commits random transactions to a store on disk until it is killed:
//
//   crash_writer <directory> <seed>
//
// Each commit is announced before it is asked for and acknowledged after it returned:
//
//   try 17 19 pods/default/p3=one pods/default/p5= pods/default/p7=two
//   ok 19
//
// The block of "try" is first and last revision; "key=" is a deletion, "key=text" a new version.

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/entropy.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

namespace muster::store {
namespace {

// Straight to the pipe: what is said must be said before we are killed.
void say(std::string_view line) {
  CHECK(::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

struct Plan {
  std::vector<Transaction> batch;
  std::string announcement;
  std::int64_t last = 0;
};

Plan draw(Entropy& entropy, std::map<std::string, std::int64_t>& revisions, std::int64_t newest) {
  Plan plan;
  plan.last = newest;
  const std::uint64_t transactions = 1 + entropy.below(4);
  for (std::uint64_t t = 0; t < transactions; ++t) {
    Transaction transaction;
    std::set<std::string> names;
    const std::uint64_t writes = 1 + entropy.below(5);
    while (names.size() < writes) names.insert(fmt::format("p{}", entropy.below(40)));
    std::string words;
    const std::int64_t first = plan.last + 1;
    for (const std::string& name : names) {
      const std::string key = testing::pod_key(name);
      const std::int64_t expected = revisions[key];
      const bool deletes = expected != 0 && entropy.below(4) == 0;
      // Lengths that end anywhere in the log's blocks.
      const std::string text =
          deletes
              ? ""
              : random_suffix(entropy, 1 + entropy.below(entropy.below(20) == 0 ? 40'000 : 300));
      transaction.writes.push_back({.key = key,
                                    .object = deletes ? nullptr : testing::make_pod(name, text),
                                    .expected = {expected}});
      revisions[key] = deletes ? 0 : plan.last + 1;
      ++plan.last;
      words += fmt::format(" {}={}", key, text);
    }
    plan.announcement += fmt::format("try {} {}{}\n", first, plan.last, words);
    plan.batch.push_back(std::move(transaction));
  }
  return plan;
}

[[noreturn]] void run(const std::string& directory, std::uint64_t seed) {
  SeededEntropy entropy(seed);
  const std::unique_ptr<Engine> engine = open_rocksdb_engine(directory).value();
  const Contents contents = engine->load().value();
  std::map<std::string, std::int64_t> revisions;
  for (const auto& [key, object] : contents.objects) revisions[key] = object->revision().value;
  std::int64_t newest = contents.revision.value;
  while (true) {
    Plan plan = draw(entropy, revisions, newest);
    say(plan.announcement);
    for (const Transaction& transaction : plan.batch)
      if (entropy.below(3) == 0) CHECK(engine->deposit(testing::objects_of(transaction)));
    if (entropy.below(10) == 0)  // which nobody commits
      CHECK(engine->deposit(std::vector<ObjectPtr>{testing::make_pod("lost", "x")}));
    const std::vector<Result<Revision>> outcomes = engine->commit(plan.batch).value();
    for (const Result<Revision>& outcome : outcomes) CHECK(outcome.has_value());
    CHECK(outcomes.back()->value == plan.last);
    say(fmt::format("ok {}\n", plan.last));
    newest = plan.last;
    if (entropy.below(30) == 0)
      CHECK(engine->compact(
          {newest - static_cast<std::int64_t>(entropy.below(static_cast<std::uint64_t>(newest)))}));
  }
}

}  // namespace
}  // namespace muster::store

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view seed = argv[2];
  std::uint64_t number = 0;
  std::from_chars(seed.data(), seed.data() + seed.size(), number);
  muster::store::run(argv[1], number);
}
