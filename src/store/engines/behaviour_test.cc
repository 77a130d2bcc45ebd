#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "store/engines/ledger.h"
#include "store/engines/memory.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

// What every engine promises, asked of each.
namespace muster::store {
namespace {

using testing::create;
using testing::make_node;
using testing::make_pod;
using testing::pod_key;
using testing::remove;
using testing::replace;
using testing::TemporaryDirectory;
using testing::together;

struct Memory {
  static constexpr bool kDurable = false;
  std::unique_ptr<Engine> engine = make_memory_engine();
  void reopen() {}
};

struct Rocksdb {
  static constexpr bool kDurable = true;
  TemporaryDirectory directory;
  std::unique_ptr<Engine> engine = open_rocksdb_engine(directory.store()).value();
  void reopen() {
    engine.reset();
    engine = open_rocksdb_engine(directory.store()).value();
  }
};

// A change in short: "+pods/default/a@1/2" is Added at 1, in a block that ends at 2.
std::string brief(const Change& change) {
  const char* sign = change.type == Change::Type::Added      ? "+"
                     : change.type == Change::Type::Modified ? "~"
                                                             : "-";
  return fmt::format("{}{}@{}/{}", sign, change.key, change.revision.value, change.block_end.value);
}
std::vector<std::string> brief(std::span<const Change> changes) {
  std::vector<std::string> all;
  for (const Change& change : changes) all.push_back(brief(change));
  return all;
}
// Everything that can be compared of it, previous object included.
std::string in_full(const Change& change) {
  const auto text = [](const ObjectPtr& object) {
    return object ? fmt::format("{}@{}", object->bytes(), object->revision().value) : "none";
  };
  return fmt::format("{} {} was {}", brief(change), text(change.object), text(change.previous));
}
std::vector<std::string> in_full(std::span<const Change> changes) {
  std::vector<std::string> all;
  for (const Change& change : changes) all.push_back(in_full(change));
  return all;
}
std::vector<std::string> in_full(const std::vector<std::pair<std::string, ObjectPtr>>& objects) {
  std::vector<std::string> all;
  for (const auto& [key, object] : objects)
    all.push_back(fmt::format("{} {}@{}", key, object->bytes(), object->revision().value));
  return all;
}

// An engine with its change stream written down.
template <typename Kind>
struct Told {
  Kind kind;
  std::vector<Change> changes;

  Told() { start(); }
  Engine& engine() { return *kind.engine; }
  Contents reopened() {
    kind.reopen();
    return start();
  }
  std::vector<Result<Revision>> commit(std::vector<Transaction> batch) {
    return engine().commit(batch).value();
  }
  Result<Revision> commit_one(Transaction transaction) {
    return commit({std::move(transaction)}).front();
  }

 private:
  Contents start() {
    Contents contents = engine().load().value();
    engine().set_sink([this](std::span<const Change> told) {
      changes.insert(changes.end(), told.begin(), told.end());
    });
    return contents;
  }
};

template <typename Kind>
class EngineBehaviour : public ::testing::Test, public Told<Kind> {};

using Engines = ::testing::Types<Memory, Rocksdb>;
TYPED_TEST_SUITE(EngineBehaviour, Engines);

using Texts = std::vector<std::string>;

TYPED_TEST(EngineBehaviour, StartsEmptyAtRevisionZero) {
  const Contents contents = this->engine().load().value();
  EXPECT_EQ(contents.revision, Revision{0});
  EXPECT_EQ(contents.compacted, Revision{0});
  EXPECT_TRUE(contents.objects.empty());
  EXPECT_TRUE(contents.recent.empty());
}

TYPED_TEST(EngineBehaviour, GivesATransactionOneContiguousBlockOfRevisions) {
  EXPECT_EQ(this->commit_one(together(create("a"))).value(), Revision{1});
  EXPECT_EQ(this->commit_one(together(create("b"), create("c"), create("d"))).value(), Revision{4});
  EXPECT_EQ(this->commit_one(together(remove("a", {1}), replace("c", {3}))).value(), Revision{6});
  EXPECT_EQ(brief(this->changes),
            (Texts{"+pods/default/a@1/1", "+pods/default/b@2/4", "+pods/default/c@3/4",
                   "+pods/default/d@4/4", "-pods/default/a@5/6", "~pods/default/c@6/6"}));
}

TYPED_TEST(EngineBehaviour, GivesCommittedObjectsTheirRevisions) {
  std::vector<Transaction> batch{together(create("a"), create("b"))};
  const std::shared_ptr<Object> first = batch[0].writes[0].object;
  const std::shared_ptr<Object> second = batch[0].writes[1].object;
  ASSERT_TRUE(this->engine().commit(batch).value().front());
  EXPECT_EQ(first->revision(), Revision{1});
  EXPECT_EQ(second->revision(), Revision{2});
  EXPECT_EQ(this->changes[0].object, first) << "the same object is handed on, not a copy";
}

TYPED_TEST(EngineBehaviour, AVersionMayBeReplacedBeforeItHasARevision) {
  ASSERT_TRUE(this->commit_one(together(create("a"))));
  const ObjectPtr first = this->changes[0].object;
  const auto replacing = [](const ObjectPtr& before) {
    Write write = create("a");
    write.replaces = before;
    return write;
  };
  Write second = replacing(first);
  Write third = replacing(second.object);
  const ObjectPtr newest = third.object;
  const auto outcomes = this->commit({together(std::move(second), create("b")),
                                      together(std::move(third)), together(replacing(first))});
  EXPECT_TRUE(outcomes[0]);
  EXPECT_TRUE(outcomes[1]);
  EXPECT_EQ(outcomes[2].error().reason, Reason::Conflict) << "another stands there by now";
  EXPECT_EQ(newest->revision(), Revision{4});
  Write late = replacing(newest);
  EXPECT_EQ(this->commit_one(together(std::move(late))).value(), Revision{5});
}

TYPED_TEST(EngineBehaviour, RefusesTheWholeTransactionIfOneWriteConflicts) {
  ASSERT_TRUE(this->commit_one(together(create("taken"))));
  const std::shared_ptr<Object> refused = make_pod("new");
  const Result<Revision> outcome = this->commit_one(
      together(Write{.key = pod_key("new"), .object = refused, .expected = {}}, create("taken")));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, Reason::Conflict);
  EXPECT_EQ(outcome.error().message, "pods/default/taken exists already, at revision 1");
  EXPECT_EQ(refused->revision(), Revision{0});
  EXPECT_EQ(this->changes.size(), 1U);
  EXPECT_EQ(this->engine().load().value().objects.size(), 1U);
}

TYPED_TEST(EngineBehaviour, LetsTheOtherTransactionsOfABatchPassAConflict) {
  const auto outcomes = this->commit({together(create("a")), together(create("b"), create("a")),
                                      together(create("b"), create("c"))});
  EXPECT_EQ(outcomes[0].value(), Revision{1});
  EXPECT_EQ(outcomes[1].error().reason, Reason::Conflict);
  EXPECT_EQ(outcomes[2].value(), Revision{3}) << "a refused transaction takes no revisions";
}

TYPED_TEST(EngineBehaviour, LetsLaterTransactionsOfABatchSeeEarlierOnes) {
  const auto outcomes =
      this->commit({together(create("a", "one")), together(replace("a", {1}, "two")),
                    together(replace("a", {1}, "stale")), together(remove("a", {2})),
                    together(create("a", "three"))});
  EXPECT_EQ(outcomes[1].value(), Revision{2});
  EXPECT_EQ(outcomes[2].error().message, "pods/default/a was expected at revision 1, but is at 2");
  EXPECT_EQ(outcomes[4].value(), Revision{4});
  EXPECT_EQ(brief(this->changes), (Texts{"+pods/default/a@1/1", "~pods/default/a@2/2",
                                         "-pods/default/a@3/3", "+pods/default/a@4/4"}));
  EXPECT_EQ(this->changes[1].previous, this->changes[0].object);
  EXPECT_EQ(this->changes[2].previous, this->changes[1].object);
}

TYPED_TEST(EngineBehaviour, ComparesEveryWriteWithTheRevisionItExpects) {
  struct Case {
    std::string name;
    Write write;
    std::string refusal;  // empty: it holds
  };
  const std::vector<Case> cases = {
      {"create where something stands", create("a"),
       "pods/default/a exists already, at revision 3"},
      {"replace what is older", replace("a", {1}),
       "pods/default/a was expected at revision 1, but is at 3"},
      {"replace what is newer", replace("a", {9}),
       "pods/default/a was expected at revision 9, but is at 3"},
      {"replace what never was", replace("x", {1}),
       "pods/default/x was expected at revision 1, but does not exist"},
      {"replace what was deleted", replace("gone", {2}),
       "pods/default/gone was expected at revision 2, but does not exist"},
      {"delete with a stale revision", remove("a", {1}),
       "pods/default/a was expected at revision 1, but is at 3"},
      {"delete what exists, expecting nothing", remove("a", {0}),
       "pods/default/a exists already, at revision 3"},
      {"delete nothing, expecting nothing", remove("x", {0}),
       "pods/default/x does not exist and cannot be deleted"},
      {"create what was deleted", create("gone"), ""},
      {"replace", replace("a", {3}), ""},
      {"delete", remove("a", {6}), ""},
  };
  this->commit({together(create("a")), together(create("gone")), together(replace("a", {1})),
                together(remove("gone", {2}))});
  for (const Case& wanted : cases) {
    const Result<Revision> outcome = this->commit_one(together(wanted.write));
    EXPECT_EQ(outcome ? "" : outcome.error().message, wanted.refusal) << wanted.name;
    if (!outcome) {
      EXPECT_EQ(outcome.error().reason, Reason::Conflict) << wanted.name;
    }
  }
}

TYPED_TEST(EngineBehaviour, RefusesATransactionThatWritesAKeyTwice) {
  const Result<Revision> outcome = this->commit_one(together(create("a"), create("a")));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, Reason::BadRequest);
  EXPECT_TRUE(this->changes.empty());
}

TYPED_TEST(EngineBehaviour, TakesNoRevisionForATransactionWithoutWrites) {
  ASSERT_TRUE(this->commit_one(together(create("a"))));
  EXPECT_EQ(this->commit_one({}).value(), Revision{1});
  EXPECT_EQ(this->commit_one(together(create("b"))).value(), Revision{2});
  EXPECT_TRUE(this->commit({}).empty());
}

TYPED_TEST(EngineBehaviour, TellsWhatStoodThereBefore) {
  this->commit({together(create("a", "one")), together(replace("a", {1}, "two")),
                together(remove("a", {2}))});
  const std::vector<Change>& told = this->changes;
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].previous, nullptr);
  EXPECT_EQ(told[1].previous, told[0].object);
  EXPECT_EQ(told[2].previous, told[1].object);
  EXPECT_EQ(told[2].object, told[1].object) << "a deletion tells the last state";
  EXPECT_EQ(told[2].object->revision(), Revision{2});
  EXPECT_EQ(told[2].revision, Revision{3});
}

TYPED_TEST(EngineBehaviour, TellsTheSinkWholeBlocksBeforeCommitReturns) {
  std::vector<std::size_t> calls;
  this->engine().set_sink([&](std::span<const Change> told) {
    calls.push_back(told.size());
    EXPECT_EQ(told.back().revision, told.back().block_end);
    EXPECT_EQ(told.back().object->revision(), told.back().revision);
  });
  std::size_t told = 0;
  this->commit({together(create("a"), create("b")), together(create("c"))});
  for (const std::size_t call : calls) told += call;
  EXPECT_EQ(told, 3U);
}

TYPED_TEST(EngineBehaviour, LoadsWhatWasCommitted) {
  this->commit({together(create("b", "one"), create("a")), together(replace("b", {1}, "two")),
                together(create("gone")), together(remove("gone", {4})),
                together(Write{.key = "nodes/n1", .object = make_node("n1"), .expected = {}})});
  const Contents contents = this->reopened();
  EXPECT_EQ(contents.revision, Revision{6});
  EXPECT_EQ(contents.compacted, Revision{0});
  Texts keys;
  for (const auto& [key, object] : contents.objects) keys.push_back(key);
  EXPECT_EQ(keys, (Texts{"nodes/n1", "pods/default/a", "pods/default/b"}));
  EXPECT_EQ(contents.objects[2].second->meta().annotations,
            make_pod("b", "two")->meta().annotations);
  EXPECT_EQ(contents.objects[2].second->revision(), Revision{3});
  EXPECT_EQ(in_full(contents.recent), in_full(this->changes));
}

TYPED_TEST(EngineBehaviour, GoesOnWhereItStoppedWhenReopened) {
  this->commit({together(create("a")), together(create("b"))});
  this->reopened();
  EXPECT_FALSE(this->commit_one(together(replace("a", {2}))));
  EXPECT_EQ(this->commit_one(together(replace("a", {1}))).value(), Revision{3});
}

TYPED_TEST(EngineBehaviour, NeverUsesARevisionTwiceAfterADelete) {
  this->commit({together(create("a")), together(remove("a", {1}))});
  this->reopened();
  EXPECT_EQ(this->commit_one(together(create("a"))).value(), Revision{3});
  this->commit_one(together(remove("a", {3})));
  ASSERT_TRUE(this->engine().compact({4}));
  const Contents contents = this->reopened();
  EXPECT_EQ(contents.revision, Revision{4}) << "though no record of it is left";
  EXPECT_EQ(this->commit_one(together(create("a"))).value(), Revision{5});
}

TYPED_TEST(EngineBehaviour, ForgetsChangesButNotObjectsWhenCompacted) {
  this->commit({together(create("a", "one")), together(create("b")),
                together(replace("a", {1}, "two")), together(create("gone")),
                together(remove("gone", {4})), together(replace("a", {3}, "three")),
                together(remove("b", {2}))});
  ASSERT_TRUE(this->engine().compact({5}));
  for (const Contents& contents : {this->engine().load().value(), this->reopened()}) {
    EXPECT_EQ(contents.revision, Revision{7});
    EXPECT_EQ(contents.compacted, Revision{5});
    ASSERT_EQ(contents.objects.size(), 1U);
    EXPECT_EQ(contents.objects[0].second->revision(), Revision{6});
    EXPECT_EQ(in_full(contents.recent), in_full(std::span(this->changes).subspan(5)))
        << "with the previous objects, although they are older than the compaction";
  }
}

TYPED_TEST(EngineBehaviour, CompactsAnyNumberOfTimesButNotIntoTheFuture) {
  this->commit({together(create("a")), together(replace("a", {1})), together(replace("a", {2}))});
  ASSERT_TRUE(this->engine().compact({2}));
  ASSERT_TRUE(this->engine().compact({2}));
  ASSERT_TRUE(this->engine().compact({1}));
  EXPECT_EQ(this->engine().load().value().compacted, Revision{2});
  const Result<Revision> beyond = this->engine().compact({4});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().reason, Reason::BadRequest);
  ASSERT_TRUE(this->engine().compact({3}));
  const Contents contents = this->reopened();
  EXPECT_EQ(contents.compacted, Revision{3});
  EXPECT_TRUE(contents.recent.empty());
  EXPECT_EQ(contents.objects.size(), 1U);
}

TYPED_TEST(EngineBehaviour, CompactsManyChangesInSlices) {
  Revision last;
  for (int round = 0; round < 10; ++round) {
    std::vector<Transaction> batch;
    for (int i = 0; i < 250; ++i)
      batch.push_back(together(
          Write{.key = pod_key("a"), .object = make_pod("a"), .expected = {round * 250 + i}}));
    last = this->commit(std::move(batch)).back().value();
  }
  ASSERT_EQ(last, Revision{2500});
  EXPECT_EQ(this->engine().compact({2400}).value(), Revision{1000});
  EXPECT_EQ(this->engine().compact({2400}).value(), Revision{2000});
  EXPECT_EQ(this->engine().compact({2400}).value(), Revision{2400});
  EXPECT_EQ(this->engine().compact({2000}).value(), Revision{2400}) << "it never goes back";
  const Contents contents = this->reopened();
  EXPECT_EQ(contents.compacted, Revision{2400});
  EXPECT_EQ(contents.recent.size(), 100U);
  EXPECT_EQ(contents.recent.front().previous->revision(), Revision{2400});
}

TYPED_TEST(EngineBehaviour, RemembersAWaypoint) {
  EXPECT_FALSE(this->reopened().waypoint.has_value());
  this->commit({together(create("a"))});
  const Time at(Duration(1'700'000'000'123'456));
  ASSERT_TRUE(this->engine().remember({.at = at, .revision = {1}}));
  const std::optional<Waypoint> found = this->reopened().waypoint;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at, at);
  EXPECT_EQ(found->revision, Revision{1});
}

TYPED_TEST(EngineBehaviour, TellsABoundedNumberOfRecentChanges) {
  constexpr std::size_t kMore = 100;
  Revision at;
  for (std::size_t done = 0; done < kRecentChangesMax + kMore; done += 1010) {
    std::vector<Transaction> batch;
    for (int i = 0; i < 1010; ++i, ++at.value)
      batch.push_back(
          together(Write{.key = pod_key("a"), .object = make_pod("a"), .expected = at}));
    this->commit(std::move(batch));
  }
  ASSERT_EQ(at.value, kRecentChangesMax + kMore);
  const Contents contents = this->reopened();
  EXPECT_EQ(contents.compacted, Revision{kMore}) << "older changes cannot be told any more";
  ASSERT_EQ(contents.recent.size(), kRecentChangesMax);
  EXPECT_EQ(contents.recent.front().revision, Revision{kMore + 1});
  EXPECT_EQ(contents.recent.front().previous->revision(), Revision{kMore});
}

// Objects of many short values take several times their text in memory.
TYPED_TEST(EngineBehaviour, TellsRecentChangesThatTakeABoundedAmountOfMemory) {
  constexpr int kVersions = 60;
  for (std::int64_t at = 0; at < kVersions; ++at) {
    api::JsonObject notes;
    for (int i = 0; i < 20'000; ++i) notes[fmt::format("{}-{}", at, i)] = "";
    auto dense = Object::make(
        api::kinds::pod(),
        {{"metadata",
          {{"name", "a"}, {"namespace", "default"}, {"annotations", std::move(notes)}}}});
    ASSERT_LT(dense->bytes().size() * kVersions, kRecentBytesMax);
    this->commit(
        {together(Write{.key = pod_key("a"), .object = std::move(dense), .expected = {at}})});
  }
  const Contents contents = this->reopened();
  std::size_t held = 0;
  for (const Change& change : contents.recent) held += memory_held_by(change);
  EXPECT_LE(held, kRecentBytesMax);
  EXPECT_GT(held, kRecentBytesMax - (4U << 20U)) << "as many as there is room for";
  EXPECT_EQ(contents.compacted.value, kVersions - std::ssize(contents.recent));
  EXPECT_EQ(contents.recent.back().object, contents.objects.front().second);
}

TYPED_TEST(EngineBehaviour, CountsItsHistory) {
  EXPECT_EQ(this->engine().history().changes, 0U);
  this->commit({together(create("a", "one"), create("b", "two"))});
  this->commit({together(replace("a", {1}, "three"), remove("b", {2}))});
  const HistorySize all = this->engine().history();
  EXPECT_EQ(all.changes, 4U);
  this->reopened();
  EXPECT_EQ(this->engine().history().changes, 4U);
  EXPECT_EQ(this->engine().history().bytes, all.bytes) << "the same, read from the disk";
  EXPECT_EQ(this->engine().revision_that_leaves(all), Revision{0});
  EXPECT_EQ(this->engine().revision_that_leaves({.changes = 3, .bytes = all.bytes}), Revision{1});
  ASSERT_TRUE(this->engine().compact({3}));
  const HistorySize last = this->engine().history();
  EXPECT_EQ(last.changes, 1U);
  EXPECT_GT(last.bytes, 0U);
  EXPECT_EQ(this->engine().revision_that_leaves(last), Revision{3});
  EXPECT_EQ(this->engine().revision_that_leaves({.changes = 9, .bytes = last.bytes - 1}),
            Revision{4});
  ASSERT_TRUE(this->engine().compact({4}));
  EXPECT_EQ(this->engine().history().changes, 0U);
  EXPECT_EQ(this->engine().history().bytes, 0U);
}

TYPED_TEST(EngineBehaviour, KeepsLargeValues) {
  const std::string large(3U << 20U, 'x');
  ASSERT_TRUE(this->commit_one(together(create("large", large), create("small"))));
  const Contents contents = this->reopened();
  ASSERT_EQ(contents.objects.size(), 2U);
  EXPECT_EQ(contents.objects[0].second->bytes(), make_pod("large", large)->bytes());
}

TYPED_TEST(EngineBehaviour, KeepsKeysWithOddBytesApartAndInOrder) {
  const std::vector<std::string> keys = {std::string("odd/\0", 5),
                                         std::string("odd/\0\0", 6),
                                         "odd/ ",
                                         "odd//",
                                         "odd/a",
                                         "odd/a/",
                                         "odd/\x7f",
                                         "odd/\xc3\xa9",
                                         "odd/\xff",
                                         "odd/\xff\xff"};
  Transaction all;
  for (const std::string& key : keys)
    all.writes.push_back(
        {.key = key, .object = make_pod("x", fmt::format("{}", key.size())), .expected = {}});
  std::ranges::reverse(all.writes);
  ASSERT_TRUE(this->commit_one(std::move(all)));
  const Contents contents = this->reopened();
  std::vector<std::string> found;
  for (const auto& [key, object] : contents.objects) found.push_back(key);
  EXPECT_EQ(found, keys);
}

TYPED_TEST(EngineBehaviour, DepositsChangeNothingUntilTheyAreCommitted) {
  Transaction transaction = together(create("a", "one"), create("b", "two"), create("c", "three"));
  const std::vector<ObjectPtr> two{transaction.writes[0].object, transaction.writes[1].object};
  ASSERT_TRUE(this->engine().deposit(two));
  EXPECT_TRUE(this->changes.empty());
  EXPECT_EQ(this->engine().load().value().revision, Revision{0});
  ASSERT_TRUE(this->engine().deposit(two));
  ASSERT_TRUE(this->commit_one(std::move(transaction)));
  EXPECT_EQ(this->changes.size(), 3U);
  ASSERT_TRUE(this->commit_one(together(replace("a", {1}, "four"), remove("b", {2}))));

  const Contents contents = this->reopened();
  ASSERT_EQ(contents.objects.size(), 2U);
  EXPECT_EQ(contents.objects[0].second->bytes(), make_pod("a", "four")->bytes());
  EXPECT_EQ(contents.objects[1].second->bytes(), make_pod("c", "three")->bytes());
  EXPECT_EQ(in_full(contents.recent), in_full(std::span<const Change>(this->changes)));
}

// --- any sequence of batches, against a map ---

struct Model {
  std::map<std::string, std::pair<std::string, std::int64_t>> objects;  // key → bytes, revision
  std::int64_t revision = 0;

  // The last revision of the block, or nothing if a write finds its key other than expected.
  std::optional<std::int64_t> commit(const Transaction& transaction) {
    std::map<std::string, int> seen;
    for (const Write& write : transaction.writes) {
      const auto found = objects.find(write.key);
      const std::int64_t actual = found == objects.end() ? 0 : found->second.second;
      if (actual != write.expected.value || (actual == 0 && !write.object) || ++seen[write.key] > 1)
        return std::nullopt;
    }
    for (const Write& write : transaction.writes) {
      ++revision;
      if (write.object)
        objects[write.key] = {std::string(write.object->bytes()), revision};
      else
        objects.erase(write.key);
    }
    return revision;
  }
};

// Mostly what the model would accept, so that states get interesting; sometimes not.
Transaction draw_transaction(const Model& model, std::int64_t predicted_shift) {
  Transaction transaction;
  const int size = *rc::gen::inRange(1, 5);
  for (int i = 0; i < size; ++i) {
    const std::string name(1, static_cast<char>('a' + *rc::gen::inRange(0, 6)));
    const auto found = model.objects.find(pod_key(name));
    std::int64_t expected = found == model.objects.end() ? 0 : found->second.second;
    if (*rc::gen::inRange(0, 10) == 0)
      expected += *rc::gen::inRange<std::int64_t>(-1, 2) + predicted_shift;
    const bool deletes = *rc::gen::inRange(0, 4) == 0;
    transaction.writes.push_back(
        {.key = pod_key(name),
         .object = deletes ? nullptr : make_pod(name, std::to_string(*rc::gen::inRange(0, 1000))),
         .expected = {expected}});
  }
  return transaction;
}

template <typename Kind>
void expect_equals(const Contents& contents, const Model& model) {
  RC_ASSERT(contents.revision.value == model.revision);
  RC_ASSERT(contents.objects.size() == model.objects.size());
  auto wanted = model.objects.begin();
  for (const auto& [key, object] : contents.objects) {
    RC_ASSERT(key == wanted->first);
    RC_ASSERT(std::string(object->bytes()) == wanted->second.first);
    RC_ASSERT(object->revision().value == wanted->second.second);
    ++wanted;
  }
}

TYPED_TEST(EngineBehaviour, EqualsAMapUnderAnyTransactions) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (TypeParam::kDurable) params.maxSuccess /= 4;  // each case opens and syncs many times
  const auto property = [] {
    Told<TypeParam> told;
    Model model;
    const int batches = *rc::gen::inRange(1, 12);
    for (int i = 0; i < batches; ++i) {
      std::vector<Transaction> batch;
      std::vector<std::optional<std::int64_t>> wanted;
      const int size = *rc::gen::inRange(0, 6);
      for (int j = 0; j < size; ++j) {
        batch.push_back(draw_transaction(model, j));
        wanted.push_back(model.commit(batch.back()));
        if (*rc::gen::inRange(0, 3) == 0)
          RC_ASSERT(told.engine().deposit(testing::objects_of(batch.back())).has_value());
      }
      const std::vector<Result<Revision>> outcomes = told.commit(std::move(batch));
      RC_ASSERT(outcomes.size() == wanted.size());
      for (std::size_t j = 0; j < wanted.size(); ++j) {
        RC_ASSERT(outcomes[j].has_value() == wanted[j].has_value());
        if (wanted[j]) RC_ASSERT(outcomes[j]->value == *wanted[j]);
      }
      const int mood = *rc::gen::inRange(0, 8);
      if (mood == 0) expect_equals<TypeParam>(told.reopened(), model);
      if (mood == 1)
        RC_ASSERT(told.engine()
                      .compact({*rc::gen::inRange<std::int64_t>(0, model.revision + 1)})
                      .has_value());
    }
    const Contents before = told.engine().load().value();
    const Contents after = told.reopened();
    expect_equals<TypeParam>(after, model);
    RC_ASSERT(in_full(before.objects) == in_full(after.objects));
    RC_ASSERT(in_full(before.recent) == in_full(after.recent));
    // What is still told is the end of what was told when it happened.
    const std::span<const Change> all(told.changes);
    RC_ASSERT(after.recent.size() ==
              static_cast<std::size_t>(model.revision - after.compacted.value));
    RC_ASSERT(in_full(after.recent) == in_full(all.last(after.recent.size())));
  };
  const rc::detail::TestResult result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata(), params);
  std::ostringstream report;
  rc::detail::printResultMessage(result, report);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << report.str();
}

}  // namespace
}  // namespace muster::store
