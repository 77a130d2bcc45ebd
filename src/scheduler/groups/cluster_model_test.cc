#include "scheduler/groups/cluster_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using std::chrono::seconds;
using Names = std::vector<std::string>;

// Holds back whoever has a gate.
class AnyGate final : public Gate {
 public:
  static constexpr std::string_view kName = "AnyGate";
  std::optional<std::string> holds_back(const api::Object& pod) const override {
    if (pod.view<api::PodView>().scheduling_gates.empty()) return std::nullopt;
    return "gated";
  }
};

Profile gates_only() {
  Profile profile;
  profile.add<AnyGate>(1);
  return profile;
}

ObjectPtr group_object(const api::Kind& kind, const std::string& name, const std::string& spec) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}}}}})", name, spec));
  return api::Object::make(kind, document->value);
}
ObjectPtr pod_group(const std::string& name, const std::string& spec = "") {
  return group_object(api::kinds::pod_group(), name, spec);
}
ObjectPtr composite_group(const std::string& name, const std::string& spec = "") {
  return group_object(api::kinds::composite_pod_group(), name, spec);
}
GroupKey leaf(const std::string& name) { return {GroupKind::PodGroup, "default", name}; }
GroupKey composite(const std::string& name) {
  return {GroupKind::CompositePodGroup, "default", name};
}

std::string text(const std::optional<PodRole>& role) {
  if (!role) return "-";
  constexpr const char* kNames[] = {"waiting", "gated", "foreign", "running", "succeeded", "lost"};
  return kNames[static_cast<std::size_t>(*role)];
}

class ClusterModelTest : public ::testing::Test, private ModelListener {
 protected:
  ClusterModelTest() { model_.set_listener(this); }

  void on_pod(const PodChange& change) override {
    pods_.push_back(change);
    told_.push_back(fmt::format(
        "{}: {} to {}", (change.after != nullptr ? change.after : change.before)->meta().uid,
        text(change.role_before), text(change.role_after)));
  }
  void on_node(const NodeChange& change) override {
    told_.push_back(fmt::format("node {}{}", change.before != nullptr ? "was " : "",
                                change.after != nullptr ? "is" : "gone"));
  }
  void on_group(const GroupChange& change) override { groups_.push_back(change); }
  void on_workload(const TreeFaults::Anchors&) override {}

  Names told() { return std::exchange(told_, {}); }
  GroupChange last_group() { return groups_.back(); }
  static Names names(const std::vector<ObjectPtr>& objects) {
    Names out;
    for (const ObjectPtr& object : objects) out.push_back(object->meta().name);
    return out;
  }

  ClusterModel model_{gates_only(), {}};
  Names told_;
  std::vector<PodChange> pods_;
  std::vector<GroupChange> groups_;
};

// --- pods

TEST_F(ClusterModelTest, EachPodPlaysOneRole) {
  struct Case {
    const char* want;
    PodSample pod;
  };
  const Case cases[] = {
      {"waiting", {.name = "p", .group = "g"}},
      {"gated", {.name = "p", .group = "g", .spec = R"("schedulingGates":[{"name":"g"}])"}},
      {"foreign", {.name = "p", .group = "g", .spec = R"("schedulerName":"other")"}},
      {"running", {.name = "p", .node_name = "n1", .group = "g"}},
      {"running",
       {.name = "p", .node_name = "n1", .group = "g", .spec = R"("schedulerName":"other")"}},
      {"succeeded",
       {.name = "p", .node_name = "n1", .group = "g", .status = R"("phase":"Succeeded")"}},
      {"lost", {.name = "p", .node_name = "n1", .group = "g", .status = R"("phase":"Failed")"}},
      {"lost", {.name = "p", .node_name = "n1", .group = "g", .terminating = true}},
      {"lost", {.name = "p", .group = "g", .terminating = true}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const ObjectPtr pod = c.pod.make();
    model_.put(pod);
    EXPECT_EQ(told(), Names{fmt::format("default-p: - to {}", c.want)});
    EXPECT_EQ(pods_.back().leaf, leaf("g"));
    EXPECT_EQ(pods_.back().before, nullptr);
    EXPECT_EQ(pods_.back().after, pod);
    model_.remove(*pod);
    EXPECT_EQ(told(), Names{fmt::format("default-p: {} to -", c.want)});
    EXPECT_EQ(pods_.back().leaf, leaf("g"));
    EXPECT_EQ(pods_.back().before, pod);
    EXPECT_EQ(pods_.back().after, nullptr);
    EXPECT_TRUE(model_.forest().size() == 0) << "nobody speaks of the group any more";
  }
  model_.remove(*PodSample{.name = "unknown"}.make());
  EXPECT_EQ(told(), Names{});
}

TEST_F(ClusterModelTest, RolesCountForTheQuorum) {
  model_.put(pod_group("g", R"("schedulingPolicy":{"gang":{"minCount":3}})"));
  model_.put(PodSample{.name = "waits", .group = "g"}.make());
  model_.put(PodSample{.name = "runs", .node_name = "n", .group = "g"}.make());
  EXPECT_FALSE(model_.runnable(leaf("g")));
  for (const char* spec : {R"("schedulerName":"other")", R"("schedulingGates":[{"name":"g"}])"}) {
    model_.put(PodSample{.name = "third", .group = "g", .spec = spec}.make());
    EXPECT_FALSE(model_.runnable(leaf("g"))) << spec;
  }
  model_.put(PodSample{.name = "third", .group = "g", .status = R"("phase":"Succeeded")"}.make());
  EXPECT_TRUE(model_.runnable(leaf("g")));
  model_.put(PodSample{.name = "third", .group = "g", .status = R"("phase":"Failed")"}.make());
  EXPECT_FALSE(model_.runnable(leaf("g")));
}

TEST_F(ClusterModelTest, APodThatChangesHandsIsTwoChanges) {
  model_.put(PodSample{.name = "p"}.make());
  told();
  model_.put(PodSample{.name = "p", .labels = {{"a", "b"}}}.make());
  EXPECT_EQ(told(), Names{"default-p: waiting to waiting"});
  const auto another = api::parse_json(
      R"({"metadata":{"name":"p","namespace":"default","uid":"other"},"spec":{"nodeName":"n","schedulerName":"default-scheduler"}})");
  model_.put(api::Object::make(api::kinds::pod(), another->value));
  EXPECT_EQ(told(), (Names{"default-p: waiting to -", "other: - to running"}));
  EXPECT_EQ(model_.lone(PodRole::Waiting).size(), 0U);
  EXPECT_EQ(names(model_.lone(PodRole::Running)), Names{"p"});
}

TEST_F(ClusterModelTest, APodOfAnotherGroupIsTwoChanges) {
  model_.put(PodSample{.name = "p", .group = "g"}.make());
  told();
  model_.put(PodSample{.name = "p", .group = "h"}.make());
  EXPECT_EQ(told(), (Names{"default-p: waiting to -", "default-p: - to waiting"}));
  EXPECT_EQ(model_.count(leaf("g"), PodRole::Waiting), 0U);
  EXPECT_EQ(model_.count(leaf("h"), PodRole::Waiting), 1U);
}

TEST_F(ClusterModelTest, WithoutGroupsAllPodsAreAlone) {
  ClusterModel model(gates_only(), {.gates = api::Gates().without(api::Gate::GenericWorkload)});
  const ObjectPtr pod = PodSample{.name = "p", .group = "g"}.make();
  EXPECT_EQ(model_.leaf_of(*pod), leaf("g"));
  EXPECT_EQ(model.leaf_of(*pod), std::nullopt);
  model.put(pod);
  EXPECT_EQ(names(model.lone(PodRole::Waiting)), Names{"p"});
  model.remove(*pod);
  EXPECT_EQ(names(model.lone(PodRole::Waiting)), Names{});
}

TEST_F(ClusterModelTest, MembersComeInTheOrderOfTheQueue) {
  model_.put(pod_group("g"));
  const auto put = [&](const std::string& name, const std::string& created, std::int64_t priority) {
    model_.put(PodSample{.name = name,
                         .group = "g",
                         .priority = priority,
                         .metadata = fmt::format(R"("creationTimestamp":"{}")", created)}
                   .make());
  };
  put("c", "2026-01-01T00:00:01Z", 0);
  put("b", "2026-01-01T00:00:02Z", 0);
  put("a", "2026-01-01T00:00:02Z", 0);
  put("high", "2026-01-01T00:00:09Z", 1);
  EXPECT_EQ(names(model_.members(leaf("g"), PodRole::Waiting)), (Names{"high", "c", "a", "b"}));
  EXPECT_EQ(names(model_.members(leaf("g"), PodRole::Waiting, 2)), (Names{"high", "c"}));
  EXPECT_EQ(names(model_.members(leaf("g"), PodRole::Waiting, 4)).size(), 4U);
  EXPECT_EQ(names(model_.members(leaf("g"), PodRole::Running)), Names{});
  EXPECT_EQ(names(model_.members(leaf("other"), PodRole::Waiting)), Names{});
  EXPECT_EQ(model_.count(leaf("g"), PodRole::Waiting), 4U);
  EXPECT_EQ(model_.count(leaf("other"), PodRole::Waiting), 0U);
}

// Those that go make room for the last one, which must not be lost by it.
TEST_F(ClusterModelTest, MembersAreKnownHoweverManyCameAndWent) {
  const auto pod = [](int i) {
    return PodSample{.name = fmt::format("p{}", i), .group = "g"}.make();
  };
  const auto waiting = [&] {
    Names out;
    model_.each_member(leaf("g"), PodRole::Waiting,
                       [&](const ObjectPtr& one) { out.push_back(one->meta().name); });
    std::ranges::sort(out);
    return out;
  };
  for (int i = 0; i < 5; ++i) model_.put(pod(i));
  model_.remove(*pod(1));
  model_.assume(model_.pod("default", "p0"), "n1");
  model_.remove(*pod(4));
  EXPECT_EQ(waiting(), (Names{"p2", "p3"}));
  model_.put(pod(5));
  model_.forget(*pod(0));
  EXPECT_EQ(waiting(), (Names{"p0", "p2", "p3", "p5"}));
  for (const int i : {3, 0, 5, 2}) model_.remove(*pod(i));
  EXPECT_EQ(waiting(), Names{});
  EXPECT_TRUE(model_.roots().empty());
}

TEST_F(ClusterModelTest, MembersAreVisitedInPieces) {
  for (int i = 0; i < 5; ++i)
    model_.put(PodSample{.name = fmt::format("p{}", i), .group = "g"}.make());
  Names seen;
  const auto visit = [&](const ObjectPtr& one) { seen.push_back(one->meta().name); };
  std::size_t position = model_.each_member_before(SIZE_MAX, 2, leaf("g"), PodRole::Waiting, visit);
  EXPECT_EQ(position, 3U);
  EXPECT_EQ(seen.size(), 2U);
  position = model_.each_member_before(position, 9, leaf("g"), PodRole::Waiting, visit);
  EXPECT_EQ(position, 0U);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (Names{"p0", "p1", "p2", "p3", "p4"}));
  EXPECT_EQ(model_.each_member_before(9, 9, leaf("other"), PodRole::Waiting, visit), 0U);
}

// --- our own decisions

TEST_F(ClusterModelTest, AnAssumedPodRunsUntilItIsForgotten) {
  const ObjectPtr pod = PodSample{.name = "p", .nominated_node = "n2", .group = "g"}.make();
  model_.put(pod);
  EXPECT_EQ(model_.nominations().node_of("default-p"), "n2");
  model_.assume(pod, "n1");
  EXPECT_EQ(model_.count(leaf("g"), PodRole::Running), 1U);
  EXPECT_EQ(model_.nominations().node_of("default-p"), "") << "it has its room";
  EXPECT_EQ(model_.forget(*pod), pod);
  EXPECT_EQ(model_.count(leaf("g"), PodRole::Running), 0U);
  EXPECT_EQ(model_.nominations().node_of("default-p"), "n2") << "as the API still says";
  model_.assume(pod, "n1");
  told();
  model_.put(PodSample{.name = "p", .node_name = "n1", .group = "g"}.make());
  EXPECT_EQ(told(), Names{"default-p: running to running"});
  EXPECT_EQ(pods_.back().assumed_on, "n1");
  EXPECT_EQ(model_.assumed_node("default-p"), "");
}

TEST_F(ClusterModelTest, OnlyAPodThatWaitsComesBackWhenItIsForgotten) {
  const ObjectPtr pod = PodSample{.name = "p"}.make();
  EXPECT_EQ(model_.forget(*pod), nullptr) << "never seen";
  model_.put(pod);
  model_.assume(pod, "n1");
  const ObjectPtr gated =
      PodSample{.name = "p", .spec = R"("schedulingGates":[{"name":"g"}])"}.make();
  model_.put(gated);
  EXPECT_EQ(model_.forget(*pod), gated) << "it waits behind its gate";
  model_.put(pod);
  model_.assume(pod, "n1");
  model_.put(PodSample{.name = "p", .terminating = true}.make());
  EXPECT_EQ(model_.forget(*pod), nullptr);
  const auto another = api::parse_json(
      R"({"metadata":{"name":"p","namespace":"default","uid":"other"},"spec":{"schedulerName":"default-scheduler"}})");
  model_.put(api::Object::make(api::kinds::pod(), another->value));
  EXPECT_EQ(model_.forget(*pod), nullptr) << "another has its name";
}

// --- nodes

TEST_F(ClusterModelTest, NodesComeChangeAndGo) {
  const ObjectPtr node = NodeSample{.name = "b"}.make();
  model_.put(node);
  model_.put(node);
  model_.put(NodeSample{.name = "a"}.make());
  EXPECT_EQ(names(model_.nodes()), (Names{"a", "b"}));
  EXPECT_EQ(model_.node("b"), node);
  model_.remove(*node);
  model_.remove(*node);
  EXPECT_EQ(model_.node("b"), nullptr);
  EXPECT_EQ(told(), (Names{"node is", "node was is", "node is", "node was gone"}));
}

TEST_F(ClusterModelTest, ListsPodsThatHoldANodeByNamespaceAndName) {
  for (const auto& [name, name_space] : {std::pair{"z", "a"}, {"b", "b"}, {"a", "b"}})
    model_.put(PodSample{.name = name, .node_name = "n", .name_space = name_space}.make());
  model_.put(PodSample{.name = "waits"}.make());
  const ObjectPtr assumed = PodSample{.name = "assumed"}.make();
  model_.put(assumed);
  model_.assume(assumed, "n");
  EXPECT_EQ(names(model_.running()), (Names{"z", "a", "b"}));
}

// --- profiles

TEST_F(ClusterModelTest, APodGetsTheProfileThatItAsksFor) {
  Profiles profiles(gates_only());
  profiles.add("second", gates_only());
  ClusterModel model(profiles, {});
  const auto asks = [](const std::string& name) {
    return PodSample{
        .name = "p", .group = "g", .spec = fmt::format(R"("schedulerName":"{}")", name)}
        .make();
  };
  const Profile* first = model.profiles().find("default-scheduler");
  const Profile* second = model.profiles().find("second");
  EXPECT_EQ(&model.profile_of(*asks("second")), second);
  EXPECT_EQ(&model.profile_of(*asks("default-scheduler")), first);
  EXPECT_EQ(&model.profile_of(*asks("other")), first);
  EXPECT_TRUE(model.serves(*asks("second")));
  EXPECT_FALSE(model.serves(*asks("other")));

  model.put(pod_group("g", R"("parentCompositePodGroupName":"c")"));
  model.put(composite_group("c"));
  EXPECT_EQ(model.scheduler_name_of(composite("c")), "default-scheduler") << "nobody asks";
  model.put(asks("second"));
  EXPECT_EQ(model.scheduler_name_of(composite("c")), "second");
  EXPECT_EQ(&model.profile_of(model.build(composite("c"))), second);
  model.put(asks("other"));
  EXPECT_EQ(model.scheduler_name_of(composite("c")), "default-scheduler");
}

}  // namespace
}  // namespace muster::scheduler
