#include "scheduler/cache/selector_book.h"

#include <gtest/gtest.h>

#include "api/kinds/kind.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

api::ObjectPtr make(std::string_view group, std::string_view kind, const std::string& name,
                    const std::string& selector) {
  const auto document =
      api::parse_json(R"({"metadata": {"namespace": "default", "uid": ")" + name +
                      R"(", "name": ")" + name + R"("}, "spec": {"selector": )" + selector + "}}");
  return api::Object::make(*api::find_kind(group, kind), document->value);
}
api::ObjectPtr service(const std::string& name, const std::string& selector) {
  return make("", "Service", name, selector);
}

api::ObjectMeta pod(api::StringPairs labels, const std::string& kind = "",
                    const std::string& owner = "") {
  api::ObjectMeta meta;
  meta.name_space = "default";
  meta.labels = std::move(labels);
  if (!owner.empty())
    meta.owners.push_back(
        {.api_version = "apps/v1", .kind = kind, .name = owner, .uid = owner, .controller = true});
  return meta;
}

TEST(SelectorBook, JoinsWhatServicesAndTheOwnerAskFor) {
  SelectorBook book;
  book.put(*service("web", R"({"app": "web"})"));
  book.put(*service("front", R"({"app": "web", "tier": "front"})"));
  book.put(*service("other", R"({"app": "db"})"));
  book.put(*service("nothing", "null"));
  book.put(*make("apps", "ReplicaSet", "rs",
                 R"({"matchExpressions": [{"key": "rev", "operator": "In", "values": ["1"]}]})"));
  EXPECT_TRUE(book.selector_of(pod({{"app", "else"}})).is_null);
  const auto count = [&](const api::ObjectMeta& meta) {
    return book.selector_of(meta).tests.size();
  };
  EXPECT_EQ(count(pod({{"app", "web"}})), 1U);
  EXPECT_EQ(count(pod({{"app", "web"}, {"tier", "front"}})), 2U) << "each pair once";
  EXPECT_EQ(count(pod({{"app", "web"}}, "ReplicaSet", "rs")), 2U);
  EXPECT_EQ(count(pod({}, "ReplicaSet", "rs")), 1U);
  EXPECT_EQ(count(pod({}, "StatefulSet", "rs")), 0U) << "of another kind";
  api::ObjectMeta stranger = pod({}, "ReplicaSet", "rs");
  stranger.owners.front().api_version = "example.com/v1";
  EXPECT_EQ(count(stranger), 0U) << "of another group";
  book.put(*make("", "ReplicationController", "rc", R"({"app": "old"})"));
  api::ObjectMeta controlled = pod({{"app", "web"}}, "ReplicationController", "rc");
  controlled.owners.front().api_version = "v1";
  ASSERT_EQ(count(controlled), 1U);
  EXPECT_EQ(book.selector_of(controlled).tests.front().values, std::vector<std::string>{"old"});
  book.put(*service("web", R"({"app": "shop"})"));
  EXPECT_TRUE(book.selector_of(pod({{"app", "web"}})).is_null);
  book.remove(*service("web", "{}"));
  EXPECT_TRUE(book.selector_of(pod({{"app", "shop"}})).is_null);
}

TEST(SelectorBook, PodsThatBelongTogetherAreAClassOfTheirOwn) {
  Cluster cluster;
  cluster.put_selector(*service("web", R"({"app": "web"})"));
  const auto in = PodSample{.name = "in", .labels = {{"app", "web"}}}.make();
  const auto out = PodSample{.name = "out", .labels = {{"app", "db"}}}.make();
  EXPECT_EQ(cluster.class_of(in).id, cluster.class_of(out).id) << "nobody spreads by default";
  cluster.set_default_spread_keys({"zone"});
  const PodClass& pods = cluster.class_of(in);
  ASSERT_TRUE(pods.default_term);
  EXPECT_TRUE(pods.is_matched_by(*pods.default_term));
  EXPECT_EQ(pods.labels, std::vector<std::string>{"zone"});
  EXPECT_FALSE(cluster.class_of(out).default_term);
  const auto own = PodSample{.name = "own",
                             .spec = R"("topologySpreadConstraints":[{"topologyKey":"rack",
                               "maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway",
                               "labelSelector":{"matchLabels":{"app":"web"}}}])",
                             .labels = {{"app", "web"}}}
                       .make();
  EXPECT_FALSE(cluster.class_of(own).default_term);
}

// Pods that run were in no service when they came. Later they are in two, and a pod of one of these
// asks: whom the other service selects is nobody's question.
TEST(SelectorBook, ServicesMayComeAfterTheirPods) {
  Cluster cluster;
  cluster.set_default_spread_keys({"zone"});
  cluster.set_node(NodeSample{.name = "n"}.make());
  cluster.follow_pods();
  for (const char* name : {"a", "b"})
    cluster.set_pod(
        PodSample{.name = name, .node_name = "n", .labels = {{"app", "web"}, {"tier", "front"}}}
            .make());
  cluster.put_selector(*service("web", R"({"app": "web"})"));
  cluster.put_selector(*service("front", R"({"tier": "front"})"));
  const auto asks = PodSample{.name = "asks", .labels = {{"app", "web"}}}.make();
  const PodClass& pods = cluster.class_of(asks);
  ASSERT_TRUE(pods.default_term);
  std::uint32_t counted = 0;
  cluster.for_each_running([&](const PodClass& other, NodeId, std::uint32_t count) {
    if (other.is_matched_by(*pods.default_term)) counted += count;
  });
  EXPECT_EQ(counted, 2U);
}

}  // namespace
}  // namespace muster::scheduler
