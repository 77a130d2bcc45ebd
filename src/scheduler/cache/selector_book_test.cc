#include "scheduler/cache/selector_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

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

TEST(SelectorBook, EqualServicesAreLookedAtOnce) {
  SelectorBook book;
  for (int i = 0; i < 2000; ++i) book.put(*service(fmt::format("s{}", i), R"({"app": "web"})"));
  const api::ObjectMeta asks = pod({{"app", "web"}});
  EXPECT_EQ(book.selector_of(asks).tests.size(), 1U);
  EXPECT_LE(book.steps(), 4U);
  for (int i = 0; i < 1999; ++i) book.remove(*service(fmt::format("s{}", i), "{}"));
  EXPECT_FALSE(book.selector_of(asks).is_null) << "one is left";
  book.remove(*service("s1999", "{}"));
  EXPECT_TRUE(book.selector_of(asks).is_null);
}

// Each asks for other labels of the pod.
TEST(SelectorBook, ManyDifferentServicesOfAPodAreNotAllLookedAt) {
  constexpr unsigned kLabels = 12;
  api::StringPairs labels;
  for (unsigned i = 0; i < kLabels; ++i) labels.emplace_back(fmt::format("k{:02}", i), "v");
  SelectorBook forth;
  SelectorBook back;
  const auto add = [&](SelectorBook& book, unsigned subset) {
    std::string pairs;
    for (unsigned i = 0; i < kLabels; ++i)
      if ((subset >> i & 1U) != 0)
        pairs += fmt::format(R"({}"k{:02}": "v")", pairs.empty() ? "" : ", ", i);
    book.put(*service(fmt::format("s{}", subset), "{" + pairs + "}"));
  };
  for (unsigned subset = 1; subset < 1U << kLabels; ++subset) {
    add(forth, subset);
    add(back, (1U << kLabels) - subset);
  }
  const api::PodSelector found = forth.selector_of(pod(labels));
  EXPECT_LE(forth.steps(), SelectorBook::kStepsMax + std::size_t{2} * kLabels);
  EXPECT_EQ(found.tests.size(), kLabels);
  EXPECT_EQ(back.selector_of(pod(labels)), found) << "the order in which they came";
}

// Services come, change and go; a pod gets the pairs of all that select it.
TEST(SelectorBook, JoinsTheServicesThatSelectAPodAfterAnyHistory) {
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>(random() % count);
  };
  const auto pairs = [&] {
    std::map<std::string, std::string> some;
    for (std::uint32_t i = pick(4); i > 0; --i)
      some[fmt::format("k{}", pick(4))] = fmt::format("v{}", pick(2));
    return api::StringPairs(some.begin(), some.end());
  };
  SelectorBook book;
  std::map<std::string, api::StringPairs> services;
  for (int step = 0; step < 3000; ++step) {
    const std::string name = fmt::format("s{}", pick(12));
    if (pick(3) == 0) {
      book.remove(*service(name, "{}"));
      services.erase(name);
    } else {
      services[name] = pairs();
      std::string text;
      for (const auto& [key, value] : services[name])
        text += fmt::format(R"({}"{}": "{}")", text.empty() ? "" : ", ", key, value);
      book.put(*service(name, "{" + text + "}"));
    }
    const api::ObjectMeta asks = pod(pairs());
    std::set<std::pair<std::string, std::string>> want;
    for (const auto& [other, selector] : services)
      if (std::ranges::includes(asks.labels, selector))
        want.insert(selector.begin(), selector.end());
    const api::PodSelector found = book.selector_of(asks);
    ASSERT_EQ(found.is_null, want.empty());
    std::set<std::pair<std::string, std::string>> got;
    for (const api::NodeRequirement& test : found.tests) got.emplace(test.key, test.values.at(0));
    ASSERT_EQ(got, want) << "step " << step;
    ASSERT_EQ(found.tests.size(), want.size());
  }
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
