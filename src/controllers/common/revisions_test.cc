#include "controllers/common/revisions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "controllers/common/testing_texts.h"

namespace muster::controllers {
namespace {

using api::Json;
using api::JsonObject;

class RevisionsTest : public ::testing::Test {
 protected:
  const api::ObjectPtr owner_ =
      api::Object::make(*api::find_kind("apps", "StatefulSet"),
                        parsed(R"({"metadata":{"name":"web","namespace":"ns","uid":"u1",
                                   "annotations":{"why":"because"}},"spec":{}})"));
  client::Mirror all_{client::Mirror::Indexes{.owners = true}};

  void keep(std::string_view name, std::int64_t number, std::string_view data,
            std::string_view owner_uid = "u1") {
    all_.put(api::Object::make(
        controller_revision_kind(),
        parsed(fmt::format(
            R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"u-{0}","ownerReferences":
            [{{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"{3}","controller":true}}]}},
            "data":{2},"revision":{1}}})",
            name, number, data, owner_uid))));
  }
  NewestRevision newest(std::string_view data, std::int32_t collisions = 0) {
    data_ = parsed(data);
    text_ = api::sorted_text(data_);
    return newest_revision({.owner = *owner_,
                            .data = data_,
                            .data_text = text_,
                            .labels = labels_,
                            .collisions = collisions},
                           revisions_of(*owner_, all_), all_);
  }

 private:
  Json data_;
  std::string text_;
  JsonObject labels_{{"app", "web"}};
};

TEST(SortedText, IsTheSameForEveryOrderAndEscapedAsGoDoes) {
  EXPECT_EQ(api::sorted_text(parsed(R"({"b":[1,{"z":null,"a":"<&>"}],"a":true})")),
            R"({"a":true,"b":[1,{"a":"\u003c\u0026\u003e","z":null}]})");
}

// FNV-1 of the text and the number of collisions, in letters that spell no words.
TEST(RevisionHash, IsKubernetes) {
  EXPECT_EQ(revision_hash("", 0), "d8bfb7bc");  // of 84696367
  EXPECT_NE(revision_hash("a", 0), revision_hash("a", 1));
  EXPECT_EQ(revision_name(std::string(300, 'x'), "abc"), std::string(223, 'x') + "-abc");
}

TEST_F(RevisionsTest, TheFirstIsCreatedWithNumberOne) {
  const NewestRevision made = newest(R"({"spec":1})");
  EXPECT_EQ(made.found, nullptr);
  ASSERT_TRUE(made.request);
  const std::string hash = revision_hash(R"({"spec":1})", 0);
  EXPECT_EQ(
      api::to_text(made.request->body),
      fmt::format(R"({{"metadata":{{"name":"web-{0}","namespace":"ns","labels":{{"app":"web",)"
                  R"("controller.kubernetes.io/hash":"{0}"}},"ownerReferences":[)"
                  R"({{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"u1",)"
                  R"("controller":true,"blockOwnerDeletion":true}}],)"
                  R"("annotations":{{"why":"because"}}}},"data":{{"spec":1}},"revision":1}})",
                  hash));
}

TEST_F(RevisionsTest, TheSameDataFindsItsRevision) {
  keep("web-a", 1, R"({"spec":{"x":1,"y":2}})");
  const NewestRevision found = newest(R"({"spec":{"y":2,"x":1}})");
  ASSERT_NE(found.found, nullptr);
  EXPECT_EQ(found.found->meta().name, "web-a");
  EXPECT_FALSE(found.request);
}

TEST_F(RevisionsTest, DataThatComesBackGetsTheHighestNumber) {
  keep("web-a", 1, R"({"spec":1})");
  keep("web-b", 2, R"({"spec":2})");
  const NewestRevision found = newest(R"({"spec":1})");
  ASSERT_NE(found.found, nullptr);
  EXPECT_EQ(found.found->meta().name, "web-a");
  ASSERT_TRUE(found.request);
  EXPECT_EQ(api::to_text(found.request->body), R"({"metadata":{"uid":"u-web-a"},"revision":3})");
}

TEST_F(RevisionsTest, ANameThatIsTakenCountsAsCollision) {
  const std::string taken = revision_name("web", revision_hash(R"({"spec":1})", 0));
  keep(taken, 1, R"({"spec":2})", "another");
  const NewestRevision made = newest(R"({"spec":1})");
  EXPECT_EQ(made.collisions, 1);
  ASSERT_TRUE(made.request);
  EXPECT_NE(api::to_text(made.request->body).find(revision_hash(R"({"spec":1})", 1)),
            std::string::npos);
}

TEST_F(RevisionsTest, TheOldestGoFirstAndLiveOnesStay) {
  for (int i = 1; i <= 5; ++i)
    keep(fmt::format("web-{}", i), i, fmt::format(R"({{"spec":{}}})", i));
  const std::set<std::string> live{"web-1", "web-5"};
  const auto surplus = surplus_revisions(
      revisions_of(*owner_, all_), 1, [&](const std::string& name) { return live.contains(name); });
  ASSERT_EQ(surplus.size(), 2U);
  EXPECT_EQ(surplus[0]->meta().name, "web-2");
  EXPECT_EQ(surplus[1]->meta().name, "web-3");
}

TEST_F(RevisionsTest, OfRevisionsOfOneNumberTheLaterByNameIsTheNewest) {
  keep("web-b", 1, R"({"spec":2})");
  keep("web-a", 1, R"({"spec":1})");
  keep("web-other", 7, R"({"spec":1})", "another");
  const auto revisions = revisions_of(*owner_, all_);
  ASSERT_EQ(revisions.size(), 2U) << "its own alone";
  EXPECT_EQ(revisions[0]->meta().name, "web-a");
  EXPECT_EQ(revisions[1]->meta().name, "web-b");
  EXPECT_FALSE(newest(R"({"spec":1})").request) << "its number is as high as any";
}

TEST_F(RevisionsTest, AreInTheOrderOfTheirNumbers) {
  keep("web-c", 1, R"({"spec":1})");
  keep("web-a", 3, R"({"spec":3})");
  keep("web-b", 2, R"({"spec":2})");
  std::vector<std::string> names;
  for (const auto& revision : revisions_of(*owner_, all_)) names.push_back(revision->meta().name);
  EXPECT_EQ(names, (Texts{"web-c", "web-b", "web-a"}));
}

TEST_F(RevisionsTest, WithoutALimitAboveNothingAllThatAreNotLiveGo) {
  for (int i = 1; i <= 3; ++i)
    keep(fmt::format("web-{}", i), i, fmt::format(R"({{"spec":{}}})", i));
  const auto surplus = [&](std::int64_t limit) {
    return surplus_revisions(revisions_of(*owner_, all_), limit,
                             [](const std::string& name) { return name == "web-3"; })
        .size();
  };
  EXPECT_EQ(surplus(0), 2U);
  EXPECT_EQ(surplus(-1), 2U);
  EXPECT_EQ(surplus(2), 0U);
  EXPECT_EQ(surplus(9), 0U);
}

TEST_F(RevisionsTest, NamesGoOnFromTheCollisionsThatAreKnown) {
  const NewestRevision made = newest(R"({"spec":1})", 4);
  EXPECT_EQ(made.collisions, 4);
  ASSERT_TRUE(made.request);
  EXPECT_EQ(api::find_string(*api::find_path(made.request->body, "metadata"), "name"),
            "web-" + revision_hash(R"({"spec":1})", 4));
}

TEST(TemplatePatch, BringsTheTemplateBack) {
  const Json pod_template = parsed(R"({"metadata":{"labels":{"a":"b"}},"spec":{"x":1}})");
  const Json patch = template_patch(pod_template);
  EXPECT_EQ(
      api::sorted_text(patch),
      R"({"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"b"}},"spec":{"x":1}}}})");
  const auto revision = api::Object::make(
      controller_revision_kind(),
      JsonObject{{"metadata", JsonObject{{"name", "r"}}}, {"data", patch}, {"revision", 1}});
  EXPECT_EQ(template_of(*revision), pod_template);
}

}  // namespace
}  // namespace muster::controllers
