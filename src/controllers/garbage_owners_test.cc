#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/garbage_collector.h"
#include "controllers/garbage_collector_testing.h"

namespace muster::controllers {
namespace {

// What the collector knows of owners that no feed shows.
class GarbageOwnersTest : public GarbageCollectorTest {
 protected:
  static client::Outcome found(std::string_view uid) {
    const auto owner = api::Object::make(
        config_maps(),
        api::parse_json(
            fmt::format(R"({{"metadata":{{"name":"owner","namespace":"n","uid":"{}"}}}})", uid))
            ->value);
    return api::Answer{.what = api::ObjectAnswer{.object = owner, .revision = {}, .created = false},
                       .warnings = {}};
  }
};

TEST_F(GarbageOwnersTest, TheOwnerIsAskedForByItsReference) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  const api::Request& request = sent_.requests.back().first;
  EXPECT_EQ(request.kind, &config_maps());
  EXPECT_EQ(request.version, "v1");
  EXPECT_EQ(request.name_space, "n");
}

TEST_F(GarbageOwnersTest, AnotherObjectOfItsNameIsNotTheOwner) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  answer(found("u-later"));
  EXPECT_EQ(asked(), Texts{"delete one Background"});
}

TEST_F(GarbageOwnersTest, AServerThatDoesNotAnswerDeletesNothing) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  answer(fail(Reason::ServiceUnavailable, "busy"));
  EXPECT_EQ(asked(), Texts{});
  ASSERT_TRUE(collector_.next_deadline().has_value());
  now_ = *collector_.next_deadline();
  EXPECT_EQ(asked(), Texts{"get owner"}) << "it is asked again";
}

TEST_F(GarbageOwnersTest, AnOwnerThatIsGoneIsRememberedWhileSomebodyNamesIt) {
  see({.name = "one", .owners = "owner"});
  start();
  asked();
  answer(fail(Reason::NotFound, "gone"));
  EXPECT_EQ(asked(), Texts{"delete one Background"});
  see({.name = "two", .owners = "owner"});
  EXPECT_EQ(asked(), Texts{"delete two Background"}) << "without asking again";
  lose("one");
  lose("two");
  see({.name = "three", .owners = "owner"});
  EXPECT_EQ(asked(), Texts{"get owner"});
}

TEST_F(GarbageOwnersTest, AnOwnerThatWentWithoutDependentsIsNotRemembered) {
  see({.name = "owner"});
  start();
  lose("owner");
  see({.name = "one", .owners = "owner"});
  EXPECT_EQ(asked(), Texts{"get owner"});
}

TEST_F(GarbageOwnersTest, AnAnswerIsOfNoUseOnceNobodyNamesTheOwner) {
  see({.name = "one", .owners = "owner"});
  start();
  EXPECT_EQ(asked(), Texts{"get owner"});
  change({.name = "one"});
  answer(fail(Reason::NotFound, "gone"));
  EXPECT_EQ(asked(), Texts{});
  see({.name = "two", .owners = "owner"});
  EXPECT_EQ(asked(), Texts{"get owner"});
}

TEST_F(GarbageOwnersTest, ADependentIsDeletedAsItsOwnFinalizersSay) {
  see({.name = "owner"});
  see({.name = "a", .owners = "owner", .metadata = R"("finalizers":["orphan"])"});
  see({.name = "b", .owners = "owner", .metadata = R"("finalizers":["foregroundDeletion"])"});
  see({.name = "c", .owners = "owner", .metadata = R"("finalizers":["example.com/x"])"});
  start();
  lose("owner");
  EXPECT_EQ(asked(), (Texts{"delete a Orphan", "delete b Foreground", "delete c Background"}));
}

TEST_F(GarbageOwnersTest, WhatIsBeingDeletedAlreadyIsLeftAlone) {
  see({.name = "owner"});
  see({.name = "one", .owners = "owner", .metadata = deleting("example.com/x")});
  start();
  lose("owner");
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(GarbageOwnersTest, AnOrphanIsLetGoOnceTheCallAboutItIsAnswered) {
  see({.name = "gone"});
  see({.name = "owner"});
  see({.name = "one", .owners = "gone,owner"});
  start();
  asked();
  lose("gone");
  EXPECT_EQ(asked(), Texts{strip("gone", "one")});
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked(), Texts{}) << "a call about it is under way";
  answer(api::Answer{});
  change({.name = "one", .owners = "owner"});
  asked();
  now_ += std::chrono::minutes{1};
  asked();
  EXPECT_EQ(sent_.requests.size(), 2U);
  EXPECT_EQ(sent_.requests.back().first.name, "one");
  EXPECT_NE(api::to_text(sent_.requests.back().first.body).find("u-owner"), std::string::npos);
}

TEST_F(GarbageOwnersTest, AnOrphanThatIsGoneNeedsNothingMore) {
  see({.name = "owner"});
  see({.name = "one", .owners = "owner"});
  start();
  change({.name = "owner", .metadata = deleting("orphan")});
  EXPECT_EQ(asked(), Texts{strip("owner", "one")});
  lose("one");
  answer(fail(Reason::NotFound, "gone"));
  EXPECT_EQ(asked(), Texts{release("orphan", "owner")});
}

TEST_F(GarbageOwnersTest, AnOwnerOfTheWholeClusterOwnsInEveryNamespace) {
  const auto node = api::Object::make(
      api::kinds::node(), api::parse_json(R"({"metadata":{"name":"big","uid":"u-big"}})")->value);
  const auto lease = api::Object::make(
      config_maps(), api::parse_json(R"({"metadata":{"name":"one","namespace":"n","uid":"u-one",
          "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"big","uid":"u-big"}]}})")
                         ->value);
  collector_.apply(client::Event{.type = Type::Added, .object = lease}, now_);
  start();
  EXPECT_EQ(asked(), Texts{"get big"});
  EXPECT_EQ(sent_.requests.back().first.name_space, "");
  collector_.apply(client::Event{.type = Type::Added, .object = node}, now_);
  answer(fail(Reason::NotFound, "not yet"));
  EXPECT_EQ(asked(), Texts{}) << "it has come meanwhile";
  collector_.apply(client::Event{.type = Type::Deleted, .object = node}, now_);
  EXPECT_EQ(asked(), Texts{"delete one Background"});
}

}  // namespace
}  // namespace muster::controllers
