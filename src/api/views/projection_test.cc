#include "api/views/projection.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/decode.h"
#include "api/kept.h"
#include "api/object.h"
#include "api/protobuf.h"
#include "api/protobuf_testing.h"
#include "api/sample.h"
#include "api/scratch.h"
#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "api/views/replica_set_view.h"
#include "base/entropy.h"

namespace muster::api {
namespace {

Json parsed(std::string_view text) { return parse_json(text).value().value; }

Json projected(const Kind& kind, const Json& document) {
  Scratch scratch;
  // A copy outside of the scratch memory.
  const Json kept =
      parse_kept(scratch, to_text(document), kept_by_scheduler(kind), Limits::of_answers()).value();
  return Json(kept, boost::json::storage_ptr());
}

std::shared_ptr<Object> object_of(const Kind& kind, Json document) {
  ensure_object(document.as_object(), "metadata")["name"] = "x";
  Result<Decoded> decoded = decode(*kind.message, {std::move(document), {}});
  EXPECT_TRUE(decoded) << decoded.error().message;
  return Object::make(kind, decoded->document);
}

// Random documents in which every member has its chance.
template <typename Compare>
void compare_samples(const Kind& kind, Compare compare) {
  SeededEntropy entropy(1);
  for (int i = 0; i < 60; ++i) {
    const Json document =
        schema::sample(*kind.message, entropy, {.presence_percent = i == 0 ? 100U : 90U});
    const auto whole = object_of(kind, document);
    const auto part = object_of(kind, projected(kind, document));
    EXPECT_LE(part->bytes().size(), whole->bytes().size());
    compare(*whole, *part);
    if (::testing::Test::HasFailure()) return;
  }
}

void expect_same_meta(const Object& whole, const Object& part) {
  EXPECT_EQ(part.meta().uid, whole.meta().uid);
  EXPECT_EQ(part.meta().labels, whole.meta().labels);
  EXPECT_EQ(part.meta().creation_time, whole.meta().creation_time);
  EXPECT_EQ(part.meta().deletion_time, whole.meta().deletion_time);
  EXPECT_EQ(part.meta().generation, whole.meta().generation);
  EXPECT_EQ(part.meta().finalizers, whole.meta().finalizers);
  EXPECT_EQ(part.meta().owners.size(), whole.meta().owners.size());
}

std::string text_of(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& said : conditions)
    text += said.type + said.status + said.reason + said.message;
  return text;
}

TEST(Projection, WhatASchedulerReadsOfAPodStays) {
  compare_samples(kinds::pod(), [](const Object& whole, const Object& part) {
    expect_same_meta(whole, part);
    const auto& all = whole.view<PodView>();
    const auto& kept = part.view<PodView>();
    EXPECT_TRUE(kept.needs == all.needs) << whole.bytes();
    EXPECT_EQ(kept.needs_hash, all.needs_hash);
    EXPECT_EQ(kept.node_name, all.node_name);
    EXPECT_EQ(kept.scheduler_name, all.scheduler_name);
    EXPECT_EQ(kept.priority, all.priority);
    EXPECT_EQ(kept.never_preempts, all.never_preempts);
    EXPECT_EQ(kept.scheduling_gates, all.scheduling_gates);
    EXPECT_EQ(kept.scheduling_group, all.scheduling_group);
    EXPECT_EQ(kept.nominated_node, all.nominated_node);
    EXPECT_EQ(kept.phase, all.phase);
    EXPECT_EQ(kept.start_time, all.start_time);
    EXPECT_EQ(kept.images, all.images);
    EXPECT_EQ(text_of(kept.conditions), text_of(all.conditions));
    ASSERT_EQ(kept.claims.size(), all.claims.size());
    for (std::size_t i = 0; i < all.claims.size(); ++i) {
      EXPECT_EQ(kept.claims[i].name, all.claims[i].name);
      EXPECT_EQ(kept.claims[i].ephemeral, all.claims[i].ephemeral);
    }
  });
}

TEST(Projection, WhatASchedulerReadsOfANodeStays) {
  compare_samples(kinds::node(), [](const Object& whole, const Object& part) {
    expect_same_meta(whole, part);
    const auto& all = whole.view<NodeView>();
    const auto& kept = part.view<NodeView>();
    EXPECT_EQ(kept.unschedulable, all.unschedulable);
    EXPECT_TRUE(kept.taints == all.taints);
    EXPECT_TRUE(kept.allocatable == all.allocatable);
    EXPECT_EQ(kept.allocatable_pods, all.allocatable_pods);
    EXPECT_TRUE(kept.images == all.images);
    EXPECT_EQ(kept.declared_features, all.declared_features);
    ASSERT_EQ(kept.conditions.size(), all.conditions.size());
    for (std::size_t i = 0; i < all.conditions.size(); ++i) {
      EXPECT_EQ(kept.conditions[i].type, all.conditions[i].type);
      EXPECT_EQ(kept.conditions[i].status, all.conditions[i].status);
    }
  });
}

// Servers answer in either form; what is kept must not depend on it.
TEST(Projection, IsTheSameOfProtobufAsOfJson) {
  SeededEntropy entropy(3);
  for (const Kind* kind : all_kinds()) {
    if (!kind->stored) continue;
    for (int i = 0; i < 12; ++i) {
      Json sample = schema::sample(*kind->message, entropy, {.presence_percent = 90});
      const Json document = object_of(*kind, std::move(sample))->document();
      const auto from_json = object_of(*kind, projected(*kind, document));
      Scratch scratch;
      const Result<Json> read = parse_protobuf_kept(
          scratch, *kind->message, ProtobufWriter::message(*kind->message, document),
          kept_by_scheduler(*kind));
      ASSERT_TRUE(read) << kind->kind << ": " << read.error().message;
      EXPECT_EQ(Object::make(*kind, *read)->bytes(), from_json->bytes()) << kind->kind;
      if (HasFailure()) return;
    }
  }
}

// What is read of a pod that has its node stands in the view, once.
TEST(Projection, OfPodsWithANodeOnlyMetadataStaysBesideTheView) {
  PodTemplates templates;
  const auto made = [&](std::string_view text) {
    Json document = parsed(text);
    return made_for_scheduler(kinds::pod(), document, templates);
  };
  const auto runs = made(
      R"({"metadata":{"name":"a","namespace":"d","labels":{"app":"x"}},"spec":{"nodeName":"n",
         "tolerations":[{"key":"k"}],"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},"status":{"phase":"Running",
         "conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True"},
           {"type":"DisruptionTarget","status":"True"}]}})");
  EXPECT_EQ(runs->view<PodView>().node_name, "n");
  EXPECT_EQ(runs->view<PodView>().needs.requests.cpu_milli, 2000);
  EXPECT_TRUE(runs->view<PodView>().needs.tolerations.empty());
  EXPECT_EQ(text_of(runs->view<PodView>().conditions), "DisruptionTargetTrue");
  EXPECT_EQ(runs->meta().labels, (StringPairs{{"app", "x"}}));
  EXPECT_EQ(runs->bytes().find("containers"), std::string_view::npos) << runs->bytes();
  EXPECT_EQ(runs->bytes().find("phase"), std::string_view::npos) << runs->bytes();
  const auto over = made(R"({"metadata":{"name":"a"},"spec":{"schedulerName":"s"},
                             "status":{"phase":"Failed"}})");
  EXPECT_TRUE(over->view<PodView>().is_terminal());
  EXPECT_EQ(over->bytes().find("schedulerName"), std::string_view::npos) << over->bytes();
  const auto waits = made(
      R"({"metadata":{"name":"a"},"spec":{"schedulerName":"s","tolerations":[{"key":"k"}],
         "containers":[{"name":"c"}]},
         "status":{"conditions":[{"type":"PodScheduled","status":"False"}]}})");
  EXPECT_EQ(waits->view<PodView>().scheduler_name, "s");
  EXPECT_EQ(text_of(waits->view<PodView>().conditions), "PodScheduledFalse");
  EXPECT_EQ(waits->view<PodView>().needs.tolerations.size(), 1U);
  EXPECT_NE(waits->bytes().find("containers"), std::string_view::npos) << waits->bytes();
}

TEST(Projection, PodsOfOneTemplateShareIt) {
  PodTemplates templates;
  const auto made = [&](std::string_view text) {
    Json document = parsed(text);
    return made_for_scheduler(kinds::pod(), document, templates);
  };
  const auto one = made(R"({"metadata":{"name":"a"},"spec":{"nodeName":"n"}})");
  const auto other = made(R"({"metadata":{"name":"b"},"spec":{"nodeName":"m"}})");
  EXPECT_EQ(&one->view<PodView>().needs, &other->view<PodView>().needs);
}

TEST(Projection, OfNodesOnlyMetadataStaysBesideTheView) {
  PodTemplates templates;
  Json document = parsed(
      R"({"metadata":{"name":"n"},"spec":{"unschedulable":true},"status":{"allocatable":{"pods":"7"}}})");
  const auto node = made_for_scheduler(kinds::node(), document, templates);
  EXPECT_TRUE(node->view<NodeView>().unschedulable);
  EXPECT_EQ(node->view<NodeView>().allocatable_pods, 7);
  EXPECT_EQ(node->bytes().find("allocatable"), std::string_view::npos) << node->bytes();
}

TEST(Projection, WhatOwnersOfPodsSelectStays) {
  const Kind& kind = *find_kind("apps", "ReplicaSet");
  const Json document = parsed(
      R"({"metadata":{"name":"web","managedFields":[{"manager":"m"}]},"spec":{"replicas":3,
         "selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[]}}}})");
  EXPECT_EQ(to_text(projected(kind, document)),
            R"({"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}}}})");
}

TEST(Projection, OfOtherKindsOnlyBookkeepingGoes) {
  const Json document = parsed(
      R"({"metadata":{"name":"g","managedFields":[],"annotations":{"a":"b",
         "kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"x":1}})");
  EXPECT_EQ(to_text(projected(kinds::pod_group(), document)),
            R"({"metadata":{"name":"g","annotations":{"a":"b"}},"spec":{"x":1}})");
}

}  // namespace
}  // namespace muster::api
