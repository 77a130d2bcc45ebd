#include "server/core/write/collection_deletion.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "server/core/testing/core_fixture.h"
#include "server/core/write/batch.h"
#include "server/core/write/object_walk.h"
#include "store/engines/testing.h"

// What requests about many objects hold on to and look at, slice by slice.
namespace muster::server {
namespace {

class CollectionDeletionTest : public CoreTest {
 protected:
  const api::Kind& maps() { return *api::find_kind("", "ConfigMap"); }
  const api::Kind& events() { return api::kinds::event(); }

  void create_map(const std::string& name, std::size_t bytes = 1) {
    ASSERT_TRUE(create(maps(), "default",
                       fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"x":"{}"}}}})", name,
                                   std::string(bytes, 'x'))));
  }
  void create_event(std::size_t i, std::string_view members, std::size_t bytes) {
    ASSERT_TRUE(create(events(), "default",
                       fmt::format(R"({{"metadata":{{"name":"e{}"}},"involvedObject":{{)"
                                   R"("kind":"Pod","namespace":"default","name":"web"}},{},)"
                                   R"("message":"{}"}})",
                                   i, members, std::string(bytes, 'x'))));
  }
  // Submits without going on.
  void begin(Request out) {
    registry_.submit(std::move(out), now_, [this](Result<Answer> a) { answer_ = std::move(a); });
  }
  Result<Answer> meanwhile(Request out) {
    std::optional<Result<Answer>> answer;
    registry_.submit(std::move(out), now_, [&](Result<Answer> a) { answer = std::move(a); });
    if (const auto batch = registry_.begin_commit()) {
      batch->commit(*store_);
      registry_.end_commit();
      batch->answer();
    }
    return std::move(answer).value_or(fail(Reason::InternalError, "no answer"));
  }
  // How many slices it takes until all is decided, with the one that it began with.
  std::size_t slices() {
    std::size_t count = 1;
    for (; registry_.unfinished(); registry_.work()) ++count;
    registry_.flush();
    return count;
  }
  Request deletion(const api::Kind& kind) {
    return request(Verb::DeleteCollection, kind, "default");
  }

  std::optional<Result<Answer>> answer_;
};

// Who rewrites objects while a deletion waits for its turn would have all old versions kept.
TEST_F(CollectionDeletionTest, OneThatWaitsKeepsNoObject) {
  for (std::size_t i = 0; i < kSliceChanges + 10; ++i) create_map(fmt::format("m{:04}", i));
  const api::ObjectPtr last =
      store_->get(fmt::format("configmaps/default/m{:04}", kSliceChanges + 9));
  ASSERT_NE(last, nullptr);
  const long holders = last.use_count();
  begin(deletion(maps()));
  ASSERT_TRUE(registry_.unfinished());
  EXPECT_EQ(last.use_count(), holders);
  registry_.flush();
  EXPECT_EQ(items(*answer_).items.size(), kSliceChanges + 10);
}

TEST_F(CollectionDeletionTest, AnExpiryThatWaitsKeepsNoEvent) {
  for (std::size_t i = 0; i < kSliceChanges + 10; ++i)
    create_event(1000 + i, R"("lastTimestamp":"2026-05-01T10:00:00Z")", 1);
  const api::ObjectPtr last =
      store_->get(fmt::format("events/default/e{}", 1000 + kSliceChanges + 9));
  ASSERT_NE(last, nullptr);
  const long holders = last.use_count();
  now_ += std::chrono::minutes(61);
  registry_.expire(now_);
  ASSERT_TRUE(registry_.unfinished());
  EXPECT_EQ(last.use_count(), holders);
  registry_.flush();
  EXPECT_EQ(items(list(events(), "default")).items.size(), 0U);
}

// More than the names that are known at a time. It is about what was there when it began, however
// that looks by now, and about nothing else.
TEST_F(CollectionDeletionTest, IsAboutWhatWasThereWhenItBegan) {
  constexpr std::size_t kMaps = 3'000;
  const std::string filler(240, 'x');
  const auto name = [&](std::size_t i) { return fmt::format("m{:04}{}", i, filler); };
  for (std::size_t i = 0; i < kMaps; ++i) create_map(name(i));
  begin(deletion(maps()));
  ASSERT_TRUE(registry_.unfinished());
  const auto make = [&](const std::string& of_name) {
    Request out = request(Verb::Create, maps(), "default");
    EXPECT_TRUE(decode_into(out, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", of_name)));
    return meanwhile(std::move(out));
  };
  Request patch = request(Verb::Patch, maps(), "default", name(kMaps - 1));
  patch.body = api::parse_json(R"({"data":{"new":"yes"}})")->value;
  EXPECT_TRUE(meanwhile(std::move(patch)));
  EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", name(kMaps - 2))));
  EXPECT_TRUE(meanwhile(request(Verb::Delete, maps(), "default", name(kMaps - 3))));
  EXPECT_TRUE(make(name(kMaps - 3)));
  EXPECT_TRUE(make("m2999a"));
  EXPECT_TRUE(make("z"));
  registry_.flush();
  ASSERT_TRUE(answer_.has_value());
  ASSERT_TRUE(*answer_) << message(*answer_);
  EXPECT_EQ(names(list(maps(), "default")), name(kMaps - 3) + " m2999a z");
}

TEST_F(CollectionDeletionTest, WhatChangesMeanwhileIsSelectedAsItIsByThen) {
  for (std::size_t i = 0; i < kSliceChanges + 10; ++i)
    ASSERT_TRUE(
        create(maps(), "default",
               fmt::format(R"({{"metadata":{{"name":"m{:04}","labels":{{"a":"b"}}}}}})", i)));
  Request out = deletion(maps());
  out.list.label_selector = "a=b";
  begin(std::move(out));
  ASSERT_TRUE(registry_.unfinished());
  const std::string kept = fmt::format("m{:04}", kSliceChanges + 5);
  Request patch = request(Verb::Patch, maps(), "default", kept);
  patch.body = api::parse_json(R"({"metadata":{"labels":{"a":"c"}}})")->value;
  EXPECT_TRUE(meanwhile(std::move(patch)));
  registry_.flush();
  EXPECT_EQ(names(list(maps(), "default")), kept);
  EXPECT_EQ(items(*answer_).items.size(), kSliceChanges + 9);
}

// What is shown stays in memory until it is read, and a dry run may be asked for again and again.
TEST_F(CollectionDeletionTest, AnAnswerShowsAMegabyteOrNothing) {
  constexpr std::size_t kLarge = 200'000;
  constexpr std::size_t kFit = kShownBytesMax / (kLarge + 1'000);
  for (std::size_t i = 0; i < kFit; ++i) create_map(fmt::format("m{}", i), kLarge);
  Request dry = deletion(maps());
  dry.dry_run = true;
  EXPECT_EQ(items(send(dry)).items.size(), kFit);
  create_map("one-more", kLarge);
  const auto answer = send(dry);
  ASSERT_TRUE(answer) << message(answer);
  const auto* status = std::get_if<api::StatusAnswer>(&answer->what);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->code, 200);

  Request limited = deletion(maps());
  limited.list.limit = static_cast<std::int64_t>(kFit);
  EXPECT_EQ(items(send(limited)).items.size(), kFit);
  EXPECT_EQ(names(list(maps(), "default")), "one-more");
}

// A field selector reads an object as a whole, though it match nothing; but once for all fields.
TEST_F(CollectionDeletionTest, ASliceIsBoundedByWhatItSearches) {
  constexpr std::size_t kEvents = 60;
  constexpr std::size_t kLarge = 400'000;
  for (std::size_t i = 0; i < kEvents; ++i) create_event(i, R"("type":"Normal")", kLarge);
  Request out = deletion(events());
  out.list.field_selector =
      "involvedObject.kind!=a,involvedObject.namespace!=a,involvedObject.name!=a,"
      "involvedObject.uid!=a,involvedObject.apiVersion!=a,involvedObject.resourceVersion!=a,"
      "involvedObject.fieldPath!=a,reason!=a,reportingComponent!=a,source!=a,type!=Normal";
  begin(std::move(out));
  const std::size_t count = slices();
  EXPECT_GE(count, kEvents * kLarge / (kSliceSearch + kLarge + 1'000));
  EXPECT_LE(count, kEvents * (kLarge + 1'000) / kSliceSearch + 1);
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(items(*answer_).items.empty());

  Request by_name = deletion(events());
  by_name.list.field_selector = "metadata.name=none";
  begin(std::move(by_name));
  EXPECT_FALSE(registry_.unfinished()) << "this one searches nothing";
}

TEST_F(CollectionDeletionTest, AnExpiryIsBoundedByWhatItSearches) {
  constexpr std::size_t kEvents = 20;
  constexpr std::size_t kLarge = 400'000;
  const std::string seen = format_micro_time(now_ + std::chrono::minutes(30));
  for (std::size_t i = 0; i < kEvents; ++i)
    create_event(i, fmt::format(R"("series":{{"count":2,"lastObservedTime":"{}"}})", seen), kLarge);
  registry_.expire(now_);
  EXPECT_FALSE(registry_.unfinished()) << "young ones are known by their metadata";
  now_ += std::chrono::minutes(61);
  registry_.expire(now_);
  EXPECT_GE(slices(), kEvents * kLarge * 3 / (kSliceSearch + 3 * (kLarge + 1'000)));
  EXPECT_EQ(items(list(events(), "default")).items.size(), kEvents);
  now_ += std::chrono::minutes(60);
  registry_.expire(now_);
  registry_.flush();
  EXPECT_EQ(items(list(events(), "default")).items.size(), 0U);
}

// To find out whom a walk is about took everybody's time, however few of them it then deleted.
TEST(ObjectWalk, LooksAtFewObjectsAtATime) {
  using store::testing::together;
  const auto store = store::Store::open(store::make_memory_engine()).value();
  Staging staging(*store);
  const auto commit = [&](store::Write write) {
    std::vector<store::Transaction> batch{together(std::move(write))};
    return store->commit(batch).value().front().value();
  };
  const auto name = [](std::size_t i) { return fmt::format("m{:04}", i); };
  std::vector<api::Revision> revisions;
  for (std::size_t i = 0; i < 1'000; ++i)
    revisions.push_back(commit(store::testing::create(name(i))));

  ObjectWalk walk("pods/default/");
  const auto next = [&] {
    const api::ObjectPtr object = walk.next(staging);
    EXPECT_LE(walk.held(), 256U);
    return object ? object->meta().name : std::string();
  };
  EXPECT_EQ(next(), name(0));
  // Of those whose keys it knows by now, and of the others.
  for (const std::size_t i : {100U, 600U}) {
    commit(store::testing::create(name(i) + "-new"));
    commit(store::testing::remove(name(i + 1), revisions[i + 1]));
    commit(store::testing::remove(name(i + 2), revisions[i + 2]));
    commit(store::testing::create(name(i + 2), "another of the same name"));
    commit(store::testing::replace(name(i + 3), revisions[i + 3], "the same, changed"));
  }
  std::vector<std::string> seen;
  while (!walk.done())
    if (std::string one = next(); !one.empty()) seen.push_back(std::move(one));
  std::vector<std::string> expected;
  for (std::size_t i = 1; i < 1'000; ++i)
    if (i != 101 && i != 102 && i != 601 && i != 602) expected.push_back(name(i));
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace muster::server
