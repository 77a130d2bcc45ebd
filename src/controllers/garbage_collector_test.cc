#include "controllers/garbage_collector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "controllers/garbage_collector_testing.h"

namespace muster::controllers {
namespace {

TEST_F(GarbageCollectorTest, DependentsFollowTheirLastOwner) {
  see({.name = "owner"});
  see({.name = "other"});
  see({.name = "both", .owners = "owner,other"});
  see({.name = "one", .owners = "owner"});
  see({.name = "free"});
  start();
  EXPECT_EQ(asked(), Texts{});
  lose("owner");
  EXPECT_EQ(asked(), (Texts{strip("owner", "both"), "delete one Background"}));
  const api::Request& removal = sent_.requests.back().first;
  EXPECT_EQ(removal.remove.preconditions.uid, "u-one");
  EXPECT_EQ(removal.remove.preconditions.resource_version, "7");
}

TEST_F(GarbageCollectorTest, NothingIsDecidedBeforeAllObjectsAreKnown) {
  see({.name = "one", .owners = "owner"});
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(GarbageCollectorTest, AnOwnerThatWasNotToldOfIsAskedFor) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  answer(fail(Reason::NotFound, "gone"));
  EXPECT_EQ(asked(), Texts{"delete one Background"});
}

TEST_F(GarbageCollectorTest, AnOwnerThatExistsAfterAllSavesItsDependents) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  answer(api::Answer{.what = api::ObjectAnswer{.object = config_map({.name = "owner"}),
                                               .revision = {},
                                               .created = false},
                     .warnings = {}});
  EXPECT_EQ(asked(), Texts{});
  see({.name = "owner"});
  EXPECT_EQ(asked(), Texts{});
  now_ += std::chrono::minutes(1);
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(GarbageCollectorTest, AForegroundOwnerWaitsForThoseThatBlockIt) {
  see({.name = "owner"});
  see({.name = "loose", .owners = "owner"});
  see({.name = "tight", .owners = "owner!"});
  start();
  change({.name = "owner", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(asked(), (Texts{"delete loose Background", "delete tight Background"}));
  lose("tight");
  EXPECT_EQ(asked(), Texts{release("foregroundDeletion", "owner")});
}

TEST_F(GarbageCollectorTest, OneOfTwoReferencesIsEnoughToBlock) {
  see({.name = "owner"});
  see({.name = "tight", .owners = "owner!,owner"});
  start();
  change({.name = "owner", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(asked(), Texts{"delete tight Background"});
  change({.name = "tight", .owners = "owner,owner"});
  EXPECT_EQ(asked(), Texts{release("foregroundDeletion", "owner")});
}

// An owner may have thousands of dependents of a megabyte each, and is looked at again whenever one
// of them changes. These cannot be parsed at all: they are nested too deep.
TEST_F(GarbageCollectorTest, WhoBlocksIsKnownWithoutParsingDependents) {
  api::Json data = api::JsonArray();
  for (int level = 0; level < 1000; ++level) {
    api::JsonArray outer;
    outer.push_back(std::move(data));
    data = std::move(outer);
  }
  const auto revision = [&](std::string_view name, bool blocks) {
    api::Json document =
        config_map({.name = name, .owners = blocks ? "owner!" : "owner"})->document();
    document.as_object()["data"] = data;
    const auto made = api::Object::make(*api::find_kind("apps", "ControllerRevision"), document);
    EXPECT_FALSE(api::parse_json(made->bytes()));
    return made;
  };
  const api::ObjectPtr tight = revision("tight", true);
  see({.name = "owner"});
  for (const api::ObjectPtr& dependent : {api::ObjectPtr(revision("loose", false)), tight})
    collector_.apply(client::Event{.type = Type::Added, .object = dependent}, now_);
  start();
  change({.name = "owner", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(asked(), (Texts{"delete loose Background", "delete tight Background"}));
  collector_.apply(client::Event{.type = Type::Deleted, .object = tight}, now_);
  EXPECT_EQ(asked(), Texts{release("foregroundDeletion", "owner")});
}

TEST_F(GarbageCollectorTest, ForegroundGoesDownTheTree) {
  see({.name = "root"});
  see({.name = "middle", .owners = "root!"});
  see({.name = "leaf", .owners = "middle!"});
  start();
  change({.name = "root", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(asked(), Texts{"delete middle Foreground"});
  change({.name = "middle", .owners = "root!", .metadata = deleting("foregroundDeletion")});
  answer(api::Answer{});
  EXPECT_EQ(asked(), Texts{"delete leaf Background"});
  lose("leaf");
  EXPECT_EQ(asked(), Texts{release("foregroundDeletion", "middle")});
  lose("middle");
  EXPECT_EQ(asked(), Texts{release("foregroundDeletion", "root")});
}

TEST_F(GarbageCollectorTest, OrphansLoseTheirReferenceFirst) {
  see({.name = "owner"});
  see({.name = "one", .owners = "owner"});
  start();
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked(), Texts{strip("owner", "one")});
  change({.name = "one"});
  EXPECT_EQ(asked(), Texts{release("orphan", "owner")});
}

TEST_F(GarbageCollectorTest, AnOrphanThatKeepsItsReferenceIsAskedAgain) {
  see({.name = "owner"});
  see({.name = "one", .owners = "owner"});
  start();
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked(), Texts{strip("owner", "one")});
  answer(fail(Reason::TooManyRequests, "busy"));
  EXPECT_EQ(asked(), Texts{});
  ASSERT_TRUE(collector_.next_deadline().has_value());
  now_ = *collector_.next_deadline();
  EXPECT_EQ(asked(), Texts{strip("owner", "one")});
}

TEST_F(GarbageCollectorTest, CirclesAreBroken) {
  see({.name = "a", .owners = "b!"});
  see({.name = "b", .owners = "a!"});
  start();
  change({.name = "a", .owners = "b!", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(
      asked(),
      Texts{
          R"(patch b {"metadata":{"ownerReferences":[{"uid":"u-a","blockOwnerDeletion":false}],"uid":"u-b"}})"});
  change({.name = "b", .owners = "a"});
  answer(api::Answer{});
  EXPECT_EQ(asked(), (Texts{release("foregroundDeletion", "a"), "delete b Foreground"}));
}

TEST_F(GarbageCollectorTest, AReferenceIntoAnotherNamespaceNamesNobody) {
  const auto foreign = api::Object::make(
      config_maps(), api::parse_json(R"({"metadata":{"name":"one","namespace":"m","uid":"u-one",
          "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"u-owner"}]}})")
                         ->value);
  see({.name = "owner"});
  collector_.apply(client::Event{.type = Type::Added, .object = foreign}, now_);
  start();
  EXPECT_EQ(asked(), Texts{"delete one Background"});
}

TEST_F(GarbageCollectorTest, WhatIsRefusedIsTriedAgain) {
  see({.name = "owner"});
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{});
  lose("owner");
  EXPECT_EQ(asked(), Texts{"delete one Background"});
  answer(fail(Reason::Conflict, "changed"));
  EXPECT_EQ(asked(), Texts{});
  ASSERT_TRUE(collector_.next_deadline().has_value());
  now_ = *collector_.next_deadline();
  EXPECT_EQ(asked(), Texts{"delete one Background"});
}

// A look is for some of the dependents; the others follow.
TEST_F(GarbageCollectorTest, ManyDependentsAreLookedAtInSlices) {
  see({.name = "owner"});
  for (int i = 0; i < 1200; ++i) see({.name = fmt::format("d{}", i), .owners = "owner"});
  start();
  while (collector_.run_once(now_, 1) > 0) {
  }
  lose("owner");
  collector_.run_once(now_, 1);
  EXPECT_EQ(sent_.requests.size(), 0U) << "it has made some of them due, and deleted none";
  collector_.run_once(now_, 501);
  EXPECT_EQ(sent_.requests.size(), 500U);
  EXPECT_EQ(asked().size(), 1200U);
}

TEST_F(GarbageCollectorTest, ManyOrphansAreLetGoInSlices) {
  see({.name = "owner"});
  for (int i = 0; i < 1200; ++i) see({.name = fmt::format("d{}", i), .owners = "owner"});
  start();
  while (collector_.run_once(now_, 1) > 0) {
  }
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked().size(), 500U);
  for (std::size_t i = 0; i < 500; ++i) {
    change({.name = sent_.requests[i].first.name});
    EXPECT_EQ(asked(), Texts{}) << "not before all of them have been answered";
    collector_.apply(client::Called{.ticket = sent_.requests[i].second, .outcome = api::Answer{}},
                     now_);
  }
  EXPECT_EQ(asked().size(), 500U);
}

// Those that cannot be let go do not stand before the others.
TEST_F(GarbageCollectorTest, OrphansThatAreRefusedComeAgainAfterTheOthers) {
  see({.name = "owner"});
  for (int i = 0; i < 700; ++i) see({.name = fmt::format("d{}", i), .owners = "owner"});
  start();
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked().size(), 500U);
  for (std::size_t i = 0; i < 500; ++i)
    collector_.apply(client::Called{.ticket = sent_.requests[i].second,
                                    .outcome = fail(Reason::Forbidden, "no")},
                     now_);
  EXPECT_EQ(asked(), Texts{}) << "after a pause";
  ASSERT_TRUE(collector_.next_deadline().has_value());
  now_ = *collector_.next_deadline();
  EXPECT_EQ(asked().size(), 500U);
  std::set<std::string> names;
  for (const auto& [request, ticket] : sent_.requests) names.insert(request.name);
  EXPECT_EQ(names.size(), 700U);
}

// Of events no feed says when they are gone, so nobody asks for them again and again.
TEST_F(GarbageCollectorTest, AnEventAsOwnerIsNotAskedFor) {
  const auto owned = api::Object::make(
      config_maps(), api::parse_json(R"({"metadata":{"name":"one","namespace":"n","uid":"u-one",
          "ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"e","uid":"u-e"}]}})")
                         ->value);
  collector_.apply(client::Event{.type = Type::Added, .object = owned}, now_);
  start();
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(collector_.next_deadline(), std::nullopt);
}

TEST_F(GarbageCollectorTest, NamespacesTakeTurns) {
  see({.name = "owner"});
  for (int i = 0; i < 100; ++i) see({.name = fmt::format("d{}", i), .owners = "owner"});
  const auto other = api::Object::make(
      config_maps(), api::parse_json(R"({"metadata":{"name":"quiet","namespace":"m","uid":"u-q",
          "ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"u-owner"}]}})")
                         ->value);
  collector_.apply(client::Event{.type = Type::Added, .object = other}, now_);
  start();
  collector_.run_once(now_, 2);
  ASSERT_EQ(sent_.requests.size(), 1U);
  EXPECT_EQ(sent_.requests[0].first.name, "quiet");
}

// References to "owner" that differ in their versions alone, as the API takes them.
std::string many_references(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out +=
        fmt::format(R"({}{{"apiVersion":"{}","kind":"ConfigMap","name":"owner","uid":"u-owner"}})",
                    i == 0 ? "" : ",", i == 0 ? "v1" : fmt::format("g{}/v1", i));
  return out;
}

api::ObjectPtr with_references(std::string_view name, std::string_view name_space,
                               std::string_view references, std::string_view labels = "") {
  return api::Object::make(
      *api::find_kind("", "ConfigMap"),
      api::parse_json(fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"{1}","uid":"u-{0}",)"
                                  R"("labels":{{{3}}},"ownerReferences":[{2}]}}}})",
                                  name, name_space, references, labels))
          ->value);
}

TEST_F(GarbageCollectorTest, AReferenceByAnotherNameOrKindNamesNobody) {
  see({.name = "owner"});
  const auto see_with = [&](std::string_view name, std::string_view reference) {
    collector_.apply(
        client::Event{.type = Type::Added, .object = with_references(name, "n", reference)}, now_);
  };
  see_with("a", R"({"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"u-owner"})");
  see_with("b", R"({"apiVersion":"v1","kind":"Secret","name":"owner","uid":"u-owner"})");
  start();
  EXPECT_EQ(asked(), (Texts{"delete a Background", "delete b Background"}));
}

TEST_F(GarbageCollectorTest, AChangeOfOtherThingsThanReferencesMakesNoWork) {
  see({.name = "owner"});
  collector_.apply(client::Event{.type = Type::Added,
                                 .object = with_references("one", "n", many_references(1000))},
                   now_);
  see({.name = "blocks", .owners = "owner!"});
  start();
  change({.name = "owner", .metadata = deleting("foregroundDeletion")});
  EXPECT_EQ(asked(), (Texts{"delete one Background", "delete blocks Background"}));
  collector_.apply(
      client::Event{.type = Type::Modified,
                    .object = with_references("one", "n", many_references(1000), R"("a":"b")")},
      now_);
  EXPECT_EQ(collector_.run_once(now_, 100), 0U);
}

TEST_F(GarbageCollectorTest, AnOwnerThatIsNamedOftenIsDroppedOnce) {
  see({.name = "owner"});
  see({.name = "other"});
  collector_.apply(
      client::Event{
          .type = Type::Added,
          .object = with_references(
              "one", "n",
              many_references(1000) +
                  R"(,{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"u-other"})")},
      now_);
  start();
  EXPECT_EQ(asked(), Texts{});
  lose("owner");
  EXPECT_EQ(asked(), Texts{strip("owner", "one")});
}

// A look at an object with many references takes as long as looks at many objects.
TEST_F(GarbageCollectorTest, WhoNamesManyOwnersWaitsForOthers) {
  for (const std::string_view name : {"a", "b"})
    collector_.apply(client::Event{.type = Type::Added,
                                   .object = with_references(name, "n", many_references(1000))},
                     now_);
  for (int i = 0; i < 10; ++i)
    collector_.apply(
        client::Event{.type = Type::Added,
                      .object = with_references(fmt::format("d{}", i), "m", many_references(1))},
        now_);
  start();
  collector_.run_once(now_, 11);
  std::size_t of_n = 0;
  for (const auto& [request, ticket] : sent_.requests) of_n += request.name_space == "n" ? 1 : 0;
  EXPECT_EQ(of_n, 1U);
}

TEST_F(GarbageCollectorTest, WatchesEverythingButEvents) {
  const auto kinds = collector_.watched_kinds();
  EXPECT_GT(kinds.size(), 35U);
  EXPECT_EQ(std::ranges::find(kinds, &api::kinds::event()), kinds.end());
  EXPECT_NE(std::ranges::find(kinds, &api::kinds::pod()), kinds.end());
}

}  // namespace
}  // namespace muster::controllers
