// What names that users invent cost the node table, in bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "api/kinds/kind.h"
#include "base/live_bytes_testing.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

void add_nodes(Cluster& cluster, int count) {
  for (int i = 0; i < count; ++i)
    cluster.set_node(NodeSample{.name = fmt::format("n{}", i)}.make());
}

// Each by a pod that waits and by one that runs. The objects themselves are not counted.
TEST(Memory, AThousandInventedResourcesTakeLessThanAMebibyte) {
  Cluster cluster;
  add_nodes(cluster, 5000);
  std::vector<api::ObjectPtr> waiting;
  std::vector<api::ObjectPtr> running;
  for (int i = 0; i < 1000; ++i) {
    PodSample pod{.name = fmt::format("p{}", i),
                  .extended = {{fmt::format("example.com/invented-{}", i), "1"}}};
    waiting.push_back(pod.make());
    waiting.back()->view<api::PodView>();
    pod.name += "-runs";
    pod.node_name = fmt::format("n{}", i);
    running.push_back(pod.make());
    running.back()->view<api::PodView>();
  }
  const std::int64_t before = live_bytes();
  for (const api::ObjectPtr& pod : running) cluster.set_pod(pod);
  for (const api::ObjectPtr& pod : waiting) cluster.retain_class(cluster.class_of(pod).id);
  const std::int64_t taken = live_bytes() - before;
  EXPECT_LT(taken, kMebibyte);
  RecordProperty("bytes", static_cast<int>(taken));
  for (const api::ObjectPtr& pod : running) cluster.remove_pod(pod->meta().uid);
  for (const api::ObjectPtr& pod : waiting) cluster.release_class(cluster.class_of(pod).id);
  EXPECT_LT(live_bytes() - before, taken / 2) << "what is gone is not kept";
}

// No node has the labels that the pods select.
TEST(Memory, AThousandInventedLabelKeysTakeNothingPerNode) {
  constexpr int kKeys = 1000;
  const auto taken_with = [](int nodes) {
    Cluster cluster;
    add_nodes(cluster, nodes);
    std::vector<api::ObjectPtr> pods;
    for (int i = 0; i < kKeys; ++i) {
      pods.push_back(
          PodSample{.name = fmt::format("p{}", i),
                    .spec = fmt::format(R"("nodeSelector":{{"example.com/invented-{}":"x"}})", i)}
              .make());
      pods.back()->view<api::PodView>();
    }
    const std::int64_t before = live_bytes();
    for (const api::ObjectPtr& pod : pods) cluster.retain_class(cluster.class_of(pod).id);
    const std::int64_t taken = live_bytes() - before;
    EXPECT_EQ(cluster.label("example.com/invented-7").values[NodeId{}], LabelValueId::Absent);
    for (const api::ObjectPtr& pod : pods) cluster.release_class(cluster.class_of(pod).id);
    EXPECT_LT(live_bytes() - before, taken / 4) << "what is gone is not kept";
    return taken;
  };
  const std::int64_t few = taken_with(10);
  const std::int64_t many = taken_with(5000);
  EXPECT_LT(few, 2 * kMebibyte);
  EXPECT_LT(many - few, std::int64_t{kKeys} * 100) << "less than a bit for each key and node";
}

// Those that run look for no node: nothing is compared for them.
TEST(Memory, KeysThatRunningPodsSelectedByTakeNothing) {
  Cluster cluster;
  add_nodes(cluster, 10);
  cluster.follow_pods();
  std::string keys;
  for (int i = 0; i < 5'000; ++i)
    keys += fmt::format(R"({}"example.com/invented-{}":"x")", i == 0 ? "" : ",", i);
  const api::ObjectPtr pod =
      PodSample{
          .name = "p", .node_name = "n1", .spec = fmt::format(R"("nodeSelector":{{{}}})", keys)}
          .make();
  pod->view<api::PodView>();
  const std::int64_t before = live_bytes();
  cluster.set_pod(pod);
  EXPECT_LT(live_bytes() - before, kMebibyte / 8);
}

// What came and went lately is remembered by class, and a class knows one of its pods.
TEST(Memory, LargePodsThatAreGoneAreNotKeptByThousands) {
  Cluster cluster;
  add_nodes(cluster, 1);
  cluster.follow_pods();
  const std::string large(1'000'000, 'x');
  const std::int64_t before = live_bytes();
  for (int i = 0; i < 300; ++i) {
    const api::ObjectPtr pod = PodSample{.name = "p",
                                         .cpu = fmt::format("{}m", i + 1),
                                         .node_name = "n0",
                                         .spec = fmt::format(R"("hostname":"{}")", large)}
                                   .make();
    cluster.set_pod(pod);
    cluster.remove_pod(pod->meta().uid);
  }
  EXPECT_LT(live_bytes() - before, 150 * kMebibyte) << "of 300";
}

// Groups may name any label as their topology: its column goes with those who ask for it.
TEST(Memory, LabelsThatWereHeldOnceAreNotKept) {
  Cluster cluster;
  add_nodes(cluster, 10);
  cluster.set_node(NodeSample{.name = "n0", .labels = {{"example.com/rack", "r"}}}.make());
  const std::int64_t before = live_bytes();
  for (int i = 0; i < 100'000; ++i) {
    const Cluster::LabelHold hold = cluster.hold_label(fmt::format("example.com/invented-{}", i));
    ASSERT_EQ(hold.column().names.size(), 1U);
  }
  EXPECT_LT(live_bytes() - before, kMebibyte / 8);
}

// Somebody counts up in the value of a taint.
TEST(Memory, ListsOfTaintsThatNoNodeHasAnyMoreAreForgotten) {
  Cluster cluster;
  add_nodes(cluster, 10);
  const auto node = [](int i) {
    return NodeSample{
        .name = "n3",
        .taints =
            fmt::format(R"([{{"key":"example.com/count","value":"{}","effect":"NoSchedule"}}])", i)}
        .make();
  };
  const std::int64_t before = live_bytes();
  for (int i = 0; i < 100'000; ++i) {
    cluster.set_node(node(i));
    ASSERT_LE(cluster.taint_sets().size(), 90U);
  }
  EXPECT_LT(live_bytes() - before, kMebibyte / 8);
  NodeId n3{};
  ASSERT_TRUE(cluster.find_node("n3", n3));
  EXPECT_EQ(cluster.taint_sets()[index_of(cluster.taint_set(n3))].at(0).value, "99999");
  EXPECT_TRUE(cluster.taint_sets()[0].empty());
}

// Services that share a label and differ in another, and for some of them a pod that asks.
TEST(Memory, ServicesTakeABoundedAmountEach) {
  constexpr int kServices = 20'000;
  constexpr int kPods = 1000;
  Cluster cluster;
  cluster.set_default_spread_keys({"zone"});
  add_nodes(cluster, 100);
  std::vector<api::ObjectPtr> services;
  for (int i = 0; i < kServices; ++i) {
    const auto document = api::parse_json(
        fmt::format(R"({{"metadata":{{"name":"s{0}","namespace":"default","uid":"s{0}"}},)"
                    R"("spec":{{"selector":{{"app":"s{0}","team":"one"}}}}}})",
                    i));
    services.push_back(api::Object::make(*api::find_kind("", "Service"), document->value));
  }
  std::vector<api::ObjectPtr> pods;
  for (int i = 0; i < kPods; ++i)
    pods.push_back(PodSample{.name = fmt::format("p{}", i),
                             .labels = {{"app", fmt::format("s{}", i)}, {"team", "one"}}}
                       .make());
  const std::int64_t before = live_bytes();
  for (const api::ObjectPtr& service : services) cluster.put_selector(*service);
  EXPECT_LT(live_bytes() - before, std::int64_t{kServices} * 2048);
  const std::int64_t with_services = live_bytes();
  std::vector<ClassId> classes;
  for (const api::ObjectPtr& pod : pods) {
    const PodClass& made = cluster.class_of(pod);
    ASSERT_TRUE(made.default_term);
    classes.push_back(made.id);
    cluster.retain_class(made.id);
  }
  EXPECT_LT(live_bytes() - with_services, std::int64_t{kPods} * 8192);
  for (const ClassId id : classes) cluster.release_class(id);
  for (const api::ObjectPtr& service : services) cluster.remove_selector(*service);
  EXPECT_LT(live_bytes() - before, 2 * kMebibyte) << "what is gone is not kept";
}

}  // namespace
}  // namespace muster::scheduler
