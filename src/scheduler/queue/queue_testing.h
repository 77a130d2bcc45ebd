#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/queue/scheduling_queue.h"

// For tests only: a queue over a model, driven in a line each.
namespace muster::scheduler {

inline GroupKey leaf(std::string name) { return {GroupKind::PodGroup, "ns", std::move(name)}; }

struct PodOptions {
  std::int32_t priority = 0;
  std::string group = {};
  bool gated = false;
  std::uint64_t class_hash = 0;
  std::string node = {};
  std::string created = {};  // "1970-01-01T00:16:40Z"; empty: not said
};

inline api::ObjectPtr make_pod(const std::string& name, const PodOptions& options = {}) {
  std::string spec =
      fmt::format(R"("schedulerName":"default-scheduler","priority":{})", options.priority);
  if (!options.group.empty())
    spec += fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", options.group);
  if (options.gated) spec += R"(,"schedulingGates":[{"name":"wait"}])";
  if (!options.node.empty()) spec += fmt::format(R"(,"nodeName":"{}")", options.node);
  std::string metadata = fmt::format(R"("name":"{0}","namespace":"ns","uid":"{0}")", name);
  if (!options.created.empty())
    metadata += fmt::format(R"(,"creationTimestamp":"{}")", options.created);
  const auto document = api::parse_json(
      fmt::format(R"({{"metadata":{{{}}},"spec":{{{}}},"status":{{}}}})", metadata, spec));
  return api::Object::make(api::kinds::pod(), document->value);
}

// Without a minimum it is Basic.
inline api::ObjectPtr make_group(const std::string& name, std::int32_t minimum,
                                 const std::string& topology, std::int32_t priority = 0) {
  std::string spec = R"("schedulingPolicy":{"basic":{}})";
  if (minimum > 0)
    spec = fmt::format(R"("schedulingPolicy":{{"gang":{{"minCount":{}}}}})", minimum);
  if (!topology.empty())
    spec += fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", topology);
  spec += fmt::format(R"(,"priority":{})", priority);
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"group-{0}"}},"spec":{{{1}}},"status":{{}}}})",
      name, spec));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

using Names = std::vector<std::string>;

// A queue over a model, whose plugins are helped by what the test says, and that counts how often
// it asks.
class QueueTest : public ::testing::Test, private ModelListener {
 protected:
  explicit QueueTest(QueueOptions options = {}) : options_(std::move(options)) {
    model_.set_listener(this);
  }
  void TearDown() override { EXPECT_EQ(queue_.inconsistency(), ""); }

  void on_pod(const PodChange&) override {}
  void on_node(const NodeChange&) override {}
  void on_group(const GroupChange& change) override { queue_.group_changed(change, now_); }
  void on_workload(const TreeFaults::Anchors& judged) override {
    queue_.trees_judged(judged, now_);
  }

  void put(const std::string& name, const PodOptions& options) {
    QueuePod pod;
    pod.pod = make_pod(name, options);
    pod.priority = options.priority;
    if (!options.group.empty()) pod.group = leaf(options.group);
    pod.gated = options.gated;
    pod.class_hash = options.class_hash;
    model_.put(pod.pod);
    queue_.set_pod(std::move(pod), {}, now_);
  }
  void put(const std::string& name) { put(name, PodOptions{}); }
  // A pod that is known changes in a way that only its own plugins are asked about.
  void change(const std::string& name, const PodOptions& options,
              Action action = Action::UpdatePodScaleDown) {
    QueuePod pod;
    pod.pod = make_pod(name, options);
    pod.priority = options.priority;
    if (!options.group.empty()) pod.group = leaf(options.group);
    pod.class_hash = options.class_hash;
    model_.put(pod.pod);
    const ClusterEvent event{Resource::TargetPod, action, pod.pod, pod.pod};
    queue_.set_pod(std::move(pod), {&event, 1}, now_);
  }
  // It waits no more, and is gone.
  void remove(const std::string& name) {
    if (const auto pod = model_.pod("ns", name)) model_.remove(*pod);
    queue_.remove_pod(name, now_);
  }
  // A member that has a node comes, or goes.
  void put_running(const std::string& name, const std::string& group) {
    model_.put(make_pod(name, {.group = group, .node = "n1"}));
    queue_.members_changed(leaf(group), true, now_);
  }
  void remove_running(const std::string& name, const std::string& group) {
    model_.remove(*model_.pod("ns", name));
    queue_.members_changed(leaf(group), true, now_);
  }

  void put_group(const std::string& name, std::int32_t minimum, const std::string& topology = {},
                 std::int32_t priority = 0) {
    model_.put(make_group(name, minimum, topology, priority));
  }
  void remove_group(const std::string& name) { model_.remove(*make_group(name, 1, "")); }

  // What is popped next: "pod", or "group:pod,pod"; empty if nothing is.
  std::string pop() {
    auto next = queue_.pop(now_);
    if (!next) return "";
    std::string name;
    std::string out;
    if (const auto* pod = std::get_if<PendingPod>(&*next)) {
      out = name = pod->pod->meta().name;
    } else {
      const Group& group = std::get<Group>(*next);
      name = group.key.name;
      out = name + ":";
      for (const PendingPod& member : group.pods)
        out += (out.back() == ':' ? "" : ",") + member.pod->meta().name;
    }
    popped_.insert_or_assign(name, std::move(*next));
    return out;
  }

  // How the attempt at what was popped under that name ends.
  struct Ending {
    Names placed = {};
    Names refused = {};
    Names plugins = {"Fit"};
    Outcome outcome = Outcome::Unschedulable;  // of those refused
    Outcome root = Outcome::Placed;            // of the group
  };
  void finish(const std::string& name, const Ending& ending) {
    Plan plan;
    for (const std::string& pod : ending.placed) {
      const api::ObjectPtr known = model_.pod("ns", pod);
      if (known != nullptr) model_.assume(known, "n1");
      plan.assignments.push_back({known != nullptr ? known : make_pod(pod), "n1"});
    }
    for (const std::string& pod : ending.refused)
      plan.refusals.push_back({make_pod(pod), ending.outcome, "", ending.plugins});
    const SchedulingQueue::Popped& entity = popped_.at(name);
    if (std::holds_alternative<Group>(entity))
      plan.groups.push_back({leaf(name), nullptr, ending.root, "", ""});
    queue_.finish(entity, plan, now_);
  }
  void refuse(const std::string& pod, const Names& plugins = {"Fit"}) {
    finish(pod, {.refused = {pod}, .plugins = plugins});
  }
  void place(const std::string& pod) { finish(pod, {.placed = {pod}}); }
  void refuse_group(const std::string& group, const Names& pods, const Names& plugins = {"Fit"}) {
    finish(group, {.refused = pods, .plugins = plugins, .root = Outcome::Unschedulable});
  }
  void place_group(const std::string& group, const Names& pods) { finish(group, {.placed = pods}); }
  void fail_binding(const std::string& pod) {
    model_.forget(*model_.pod("ns", pod));
    queue_.bind_failed(pod, now_);
  }
  using TreeFailure = SchedulingQueue::TreeFailure;
  void fail_tree_binding(const std::string& group, const Names& pods,
                         TreeFailure failure = TreeFailure::Error) {
    for (const std::string& pod : pods) model_.forget(*model_.pod("ns", pod));
    queue_.tree_bind_failed(leaf(group), pods, failure, now_);
  }

  void node_added() { queue_.wake({Resource::Node, Action::Add, nullptr, nullptr}, now_); }
  void pod_deleted(std::optional<std::int32_t> priority_max = {}) {
    queue_.wake({Resource::AssignedPod, Action::Delete, nullptr, nullptr}, now_, priority_max);
  }

  Time now_{std::chrono::seconds{1000}};
  std::set<std::pair<std::string, Resource>> helps_{
      {"Fit", Resource::Node}, {"Fit", Resource::AssignedPod}, {"Taint", Resource::Node}};
  int asked_ = 0;
  ClusterModel model_{default_profile(), {}};
  QueueOptions with_sizes(QueueOptions options) {
    options.too_large = [this](const GroupKey& root) { return too_large_.contains(root.name); };
    return options;
  }

  QueueOptions options_;
  std::set<std::string> too_large_;  // roots that cannot be bound
  SchedulingQueue queue_{
      with_sizes(options_), model_,
      [this](std::string_view plugin, const api::Object&, const ClusterEvent& event) {
        ++asked_;
        return helps_.contains({std::string(plugin), event.resource});
      },
      [this](std::string_view plugin, Resource resource, Action) {
        return helps_.contains({std::string(plugin), resource});
      }};
  std::map<std::string, SchedulingQueue::Popped> popped_;
};

}  // namespace muster::scheduler
