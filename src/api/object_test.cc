#include "api/object.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/sample.h"
#include "base/entropy.h"

namespace muster::api {
namespace {

Json document_of(std::string_view text) { return parse_json(text).value().value; }

std::string encoded(const Object& object, EncodeOptions options = {}) {
  std::string out;
  encode(object, Revision{7}, options, out);
  return out;
}

const char* const kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u",)"
    R"("resourceVersion":"3","selfLink":"x","generation":2,)"
    R"("creationTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":30,)"
    R"("labels":{"b":"2","a":"1"},"finalizers":["f"],)"
    R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"o","controller":true}]},)"
    R"("spec":{"nodeName":"n"}})";

// Limits of memory count by it: an object of many short entries takes several times its text.
TEST(Object, KnowsWhatItTakesInMemory) {
  const auto grown = [](std::string_view part, std::string_view member, const Json& item,
                        const char* key = nullptr) {
    constexpr std::size_t kItems = 1'000;
    Json small = document_of(R"({"metadata":{"name":"p"},"spec":{},"status":{}})");
    Json large = small;
    JsonArray list(kItems, item);
    JsonObject map;
    for (std::size_t i = 0; key != nullptr && i < kItems; ++i) map[key + std::to_string(i)] = item;
    large.get_object()[part].get_object()[member] = key == nullptr ? Json(list) : Json(map);
    return (Object::make(kinds::pod(), large)->memory() -
            Object::make(kinds::pod(), small)->memory()) /
           kItems;
  };
  EXPECT_GT(Object::make(kinds::pod(), document_of(R"({"metadata":{"name":"p"}})"))->memory(),
            1'000U);
  EXPECT_GE(grown("metadata", "annotations", "", "k"), 64U);
  EXPECT_GE(grown("metadata", "labels", std::string(40, 'x').c_str(), "k"), 64U + 40 + 40);
  EXPECT_GE(grown("metadata", "finalizers", "a/b"), 32U);
  EXPECT_GE(grown("metadata", "ownerReferences", JsonObject{{"name", "x"}}), 136U);
  EXPECT_GE(grown("status", "conditions", JsonObject()), 136U) << "a view makes a struct of each";
}

TEST(Object, HoldsBytesWithoutTypeAndVersion) {
  const auto pod = Object::make(kinds::pod(), document_of(kPod));
  EXPECT_EQ(
      pod->bytes(),
      R"({"metadata":{"name":"p","namespace":"ns","uid":"u","generation":2,)"
      R"("creationTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":30,)"
      R"("labels":{"a":"1","b":"2"},)"
      R"("ownerReferences":[{"kind":"Node","name":"n","uid":"o","apiVersion":"v1","controller":true}],)"
      R"("finalizers":["f"]},"spec":{"nodeName":"n"},"status":{}})");
}

TEST(Object, ReadsItsMetadata) {
  const auto pod = Object::make(kinds::pod(), document_of(kPod));
  const ObjectMeta& meta = pod->meta();
  EXPECT_EQ(key_text(meta), "ns/p");
  EXPECT_EQ(meta.uid, "u");
  EXPECT_EQ(meta.generation, 2);
  EXPECT_EQ(meta.creation_time, parse_time("2026-01-02T03:04:05Z"));
  EXPECT_FALSE(meta.deletion_time.has_value());
  EXPECT_EQ(meta.deletion_grace_s, 30);
  EXPECT_EQ(*lookup(meta.labels, "a"), "1");
  EXPECT_EQ(meta.finalizers, (std::vector<std::string>{"f"}));
  ASSERT_EQ(meta.owners.size(), 1U);
  EXPECT_TRUE(meta.owners[0].controller);
  EXPECT_EQ(meta.owners[0].uid, "o");
}

// Whatever the metadata is and wherever the old object came from: the same bytes as a whole
// document would give.
TEST(Object, KeepsMetadataByteForByte) {
  SeededEntropy entropy(11);
  for (int i = 0; i < 200; ++i) {
    Json before = schema::sample(*kinds::pod().message, entropy);
    ensure_object(before.as_object(), "metadata")["name"] = "p";
    Json after = schema::sample(*kinds::pod().message, entropy);
    after.as_object()["metadata"] = before.at("metadata");
    const auto old = Object::make(kinds::pod(), before);
    const auto found = Object::parse(kinds::pod(), std::string(old->bytes()));
    ASSERT_TRUE(found.has_value());
    const auto whole = Object::make(kinds::pod(), after);
    after.as_object().erase("metadata");
    for (const Object* from : {old.get(), found->get()}) {
      const auto kept = Object::make_keeping_metadata(*from, after);
      ASSERT_EQ(kept->bytes(), whole->bytes());
      EXPECT_EQ(kept->meta().labels, whole->meta().labels);
      EXPECT_EQ(kept->meta().uid, whole->meta().uid);
      // And so again, from one that was made this way.
      EXPECT_EQ(Object::make_keeping_metadata(*kept, after)->bytes(), whole->bytes());
    }
  }
}

TEST(Object, ComesBackFromItsBytes) {
  const auto pod = Object::make(kinds::pod(), document_of(kPod));
  const auto again = Object::parse(kinds::pod(), std::string(pod->bytes()));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)->bytes(), pod->bytes());
  EXPECT_EQ((*again)->meta().name, "p");
  EXPECT_EQ(Object::make(kinds::pod(), pod->document())->bytes(), pod->bytes());
}

TEST(Object, RefusesDamagedBytes) {
  for (const char* bytes : {"", "{", R"({"spec":{}})", R"({"metadata":{}})"}) {
    const auto object = Object::parse(kinds::pod(), bytes);
    ASSERT_FALSE(object.has_value()) << bytes;
    EXPECT_EQ(object.error().reason, Reason::InternalError);
  }
}

TEST(Object, IsEncodedForClientsAndForLists) {
  const auto lease =
      Object::make(kinds::lease(), document_of(R"({"metadata":{"name":"l"},"spec":{}})"));
  EXPECT_EQ(encoded(*lease), R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",)"
                             R"("metadata":{"resourceVersion":"7","name":"l"},"spec":{}})");
  EXPECT_EQ(encoded(*lease, {.version = "v1beta1", .with_type = true}).substr(0, 60),
            R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1beta1",")");
  EXPECT_EQ(encoded(*lease, {.version = {}, .with_type = false}),
            R"({"metadata":{"resourceVersion":"7","name":"l"},"spec":{}})");
}

struct NameView : View {
  std::string name;
  static std::unique_ptr<NameView> read(const Object& object) {
    auto view = std::make_unique<NameView>();
    view->name = object.meta().name;
    return view;
  }
};

TEST(Object, BuildsItsViewOnceForAllThreads) {
  const auto pod = Object::make(kinds::pod(), document_of(kPod));
  std::vector<const NameView*> seen(8);
  std::vector<std::jthread> threads;
  threads.reserve(seen.size());
  for (const NameView*& view : seen)
    threads.emplace_back([&pod, &view] { view = &pod->view<NameView>(); });
  threads.clear();
  EXPECT_EQ(std::set<const NameView*>(seen.begin(), seen.end()).size(), 1U);
  EXPECT_EQ(seen[0]->name, "p");
}

TEST(Kinds, AreFoundByResourceAndByKind) {
  EXPECT_EQ(find_resource("", "v1", "pods"), &kinds::pod());
  EXPECT_EQ(find_resource("", "v2", "pods"), nullptr);
  EXPECT_EQ(find_resource("scheduling.k8s.io", "v1", "priorityclasses"), &kinds::priority_class());
  EXPECT_EQ(find_kind("coordination.k8s.io", "Lease"), &kinds::lease());
  EXPECT_EQ(find_kind("", "Lease"), nullptr);
}

TEST(Kinds, NameThemselves) {
  EXPECT_EQ(kinds::pod().api_version("v1"), "v1");
  EXPECT_EQ(kinds::lease().api_version("v1"), "coordination.k8s.io/v1");
  EXPECT_EQ(kinds::pod().qualified_plural(), "pods");
  EXPECT_EQ(kinds::lease().qualified_plural(), "leases.coordination.k8s.io");
  EXPECT_EQ(kinds::lease().qualified_kind(), "Lease.coordination.k8s.io");
  EXPECT_EQ(kinds::event().list_kind(), "EventList");
  EXPECT_EQ(kinds::pod().subresource("eviction")->body_group, "policy");
  EXPECT_EQ(kinds::pod().subresource("logs"), nullptr);
  EXPECT_EQ(kinds::node().store_prefix, "nodes");
}

}  // namespace
}  // namespace muster::api
