#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/views/group_view.h"
#include "api/views/pod_view.h"
#include "sim/world.h"

// Gangs on a server that takes no GroupBindings, as any other than our own: pods are bound one by
// one, and whatever happens on the way no gang stays half bound.
namespace muster::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kPods = 4;

World::Options foreign_server(Duration release_after) {
  World::Options options;
  options.scheduler = {.group_bindings = false, .release_half_bound_after = release_after};
  options.shape.pools.push_back({.racks_per_block = 2,
                                 .nodes_per_rack = kPods,
                                 .resources = parse_resources("cpu=4,memory=16Gi").value()});
  return options;
}

class ForeignServer {
 public:
  explicit ForeignServer(Duration release_after = Duration::zero())
      : world_(foreign_server(release_after)) {
    world_.run_until_idle();
    world_.set_fault([this](const api::Request& request) { return fault(request); });
  }

  // After so many writes of the scheduler it dies: that one is done, and nobody hears the answer.
  void crash_after(int writes) { crash_at_ = writes_ + writes; }
  // Bindings of this pod are refused.
  void refuse(std::string pod) { refused_.insert(std::move(pod)); }
  void accept_all() { refused_.clear(); }

  void gang(std::string_view name, int minimum, bool in_one_rack = true) {
    create(
        api::kinds::pod_group(),
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{
             "schedulingPolicy":{{"gang":{{"minCount":{}}}}}{}}}}})",
            name, minimum,
            in_one_rack
                ? R"(,"schedulingConstraints":{"topology":[{"key":"topology.kubernetes.io/rack"}]})"
                : ""));
  }
  void pods(std::string_view gang, int first, int count) {
    for (int i = first; i < first + count; ++i)
      pod(fmt::format("{}-{}", gang, i),
          fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", gang));
  }
  void pod(std::string_view name, std::string_view more = {}) {
    create(api::kinds::pod(),
           fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}"terminationGracePeriodSeconds":1,
             "containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"4"}}}}}}]}}}})",
                       name, more));
  }
  void remove(std::string_view name) {
    const api::ObjectPtr pod = world_.get(api::kinds::pod(), "default", name);
    ASSERT_TRUE(world_.ask(client::delete_request(*pod, 0)));
  }
  void advance(Duration duration) {
    for (Duration left = duration; left > Duration{0}; left -= seconds{1}) {
      world_.advance(seconds{1});
      if (!dead_) continue;
      world_.restart_scheduler();
      dead_ = false;
    }
  }

  std::map<std::string, std::string> nodes_of(std::string_view gang) {
    std::map<std::string, std::string> nodes;
    for (const api::ObjectPtr& pod : list(api::kinds::pod()))
      if (const auto& view = pod->view<api::PodView>();
          view.scheduling_group == gang && !view.node_name.empty())
        nodes[pod->meta().name] = view.node_name;
    return nodes;
  }
  std::string said_by(std::string_view gang) const {
    const api::ObjectPtr group = world_.get(api::kinds::pod_group(), "default", gang);
    const api::Condition* said =
        group->view<api::GroupView>().condition("PodGroupInitiallyScheduled");
    return said == nullptr ? "" : said->status;
  }
  std::vector<std::string> events(std::string_view part) {
    std::vector<std::string> out;
    for (const api::ObjectPtr& event : list(api::kinds::event())) {
      const std::string text = api::to_text(event->document());
      if (text.find(part) != std::string::npos) out.push_back(text);
    }
    return out;
  }
  std::vector<api::ObjectPtr> list(const api::Kind& kind) { return world_.list(kind); }
  int writes() const { return writes_; }
  World& world() { return world_; }
  void expect_sound() {
    EXPECT_EQ(world_.scheduler().audit(list(api::kinds::node()), list(api::kinds::pod())), "");
  }

 private:
  void create(const api::Kind& kind, std::string_view json) {
    const auto made =
        world_.ask(client::create_request(kind, "default", api::parse_json(json).value().value));
    ASSERT_TRUE(made) << made.error().message << json;
  }
  std::optional<Error> fault(const api::Request& request) {
    if (request.kind == &api::kinds::group_binding())
      return make_error(Reason::NotFound, "the server could not find the requested resource");
    if (request.user.name != "system:kube-scheduler" || request.kind == &api::kinds::event())
      return std::nullopt;
    if (dead_) return make_error(Reason::ServiceUnavailable, "the scheduler is dead");
    if (request.subresource == "binding" && refused_.contains(request.name))
      return make_error(Reason::Forbidden, "no binding for {}", request.name);
    if (writes_++ == crash_at_) dead_ = true;
    return std::nullopt;
  }

  std::set<std::string> refused_;
  int writes_ = 0;
  int crash_at_ = -1;
  bool dead_ = false;
  World world_;
};

std::string rack_of(const api::ObjectPtr& node) {
  for (const auto& [key, value] : node->meta().labels)
    if (key == "topology.kubernetes.io/rack") return value;
  return "";
}

std::set<std::string> racks(const std::map<std::string, std::string>& nodes, World& world) {
  std::set<std::string> racks;
  for (const auto& [pod, node] : nodes)
    racks.insert(rack_of(world.get(api::kinds::node(), "", node)));
  return racks;
}

// Two gangs of one rack each, and two pods that want a place there, too: who comes first after a
// restart may differ, but what was begun is finished.
TEST(HalfBoundFaults, ARestartAfterAnyWriteLeavesNoGangHalfBound) {
  int writes = 0;
  for (int crash = -1; crash < writes; ++crash) {
    ForeignServer server;
    if (crash >= 0) server.crash_after(crash);
    for (const char* gang : {"first", "second"}) {
      server.gang(gang, kPods);
      server.pods(gang, 0, kPods);
    }
    for (const char* rival : {"rival-0", "rival-1"}) server.pod(rival);
    server.advance(minutes{2});
    for (const char* gang : {"first", "second"}) {
      const std::size_t bound = server.nodes_of(gang).size();
      ASSERT_TRUE(bound == 0 || bound == kPods)
          << bound << " of " << gang << ", restarted after " << crash;
    }
    if (crash < 0) writes = server.writes();
    for (const char* rival : {"rival-0", "rival-1"}) server.remove(rival);
    server.advance(minutes{2});
    for (const char* gang : {"first", "second"}) {
      ASSERT_EQ(server.nodes_of(gang).size(), kPods) << gang << ", restarted after " << crash;
      ASSERT_EQ(racks(server.nodes_of(gang), server.world()).size(), 1U) << gang << ", " << crash;
      ASSERT_EQ(server.said_by(gang), "True") << gang << ", restarted after " << crash;
    }
    server.expect_sound();
  }
  ASSERT_GT(writes, 2 * kPods);
}

// Eight older pods want the eight nodes. Two pods of a gang were bound by somebody who died.
TEST(HalfBoundFaults, AfterARestartAHalfBoundGangGoesBeforeOlderPods) {
  ForeignServer server;
  server.world().hold_scheduler(true);
  for (int i = 0; i < 2 * kPods; ++i) server.pod(fmt::format("old-{}", i));
  server.world().advance(minutes{1});
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  const std::vector<api::ObjectPtr> nodes = server.list(api::kinds::node());
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(rack_of(nodes[i]), rack_of(nodes[0]));
    const api::ObjectPtr pod =
        server.world().get(api::kinds::pod(), "default", fmt::format("gang-{}", i));
    ASSERT_TRUE(server.world().ask(client::bind_request(*pod, nodes[i]->meta().name)));
  }
  server.world().restart_scheduler();
  server.world().hold_scheduler(false);
  server.advance(seconds{5});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods);
  EXPECT_EQ(racks(server.nodes_of("gang"), server.world()).size(), 1U);
  EXPECT_EQ(server.said_by("gang"), "True");
}

TEST(HalfBoundFaults, AGroupSaysThatItWasScheduledOnceItsMinimumIsBound) {
  ForeignServer server;
  server.refuse("gang-1");
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  server.advance(seconds{30});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
  EXPECT_NE(server.said_by("gang"), "True");
  EXPECT_TRUE(server.events("pods that it needs are bound").empty());
  server.advance(minutes{1});
  EXPECT_FALSE(server.events("only 3 of the 4 pods that it needs are bound").empty());
  EXPECT_FALSE(server.events("no binding for gang-1").empty());
  server.accept_all();
  server.advance(minutes{1});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods);
  EXPECT_EQ(server.said_by("gang"), "True");
}

TEST(HalfBoundFaults, WithoutADeadlineNothingIsReleased) {
  ForeignServer server;
  server.refuse("gang-1");
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  server.advance(minutes{20});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
}

TEST(HalfBoundFaults, BeyondTheDeadlineTheBoundPodsAreDeleted) {
  ForeignServer server(seconds{90});
  server.refuse("gang-1");
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  server.advance(seconds{85});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
  server.advance(seconds{15});
  EXPECT_EQ(server.nodes_of("gang").size(), 0U);
  EXPECT_FALSE(server.events("stayed half bound for too long").empty());
  // What their controllers make instead of them.
  server.accept_all();
  server.pods("gang", 10, kPods - 1);
  server.advance(seconds{30});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods);
  EXPECT_EQ(server.said_by("gang"), "True");
  server.expect_sound();
}

TEST(HalfBoundFaults, ThoseThatComeAfterAReleaseHaveAsLongAgain) {
  ForeignServer server(seconds{90});
  server.refuse("gang-1");
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  server.advance(seconds{100});
  ASSERT_EQ(server.nodes_of("gang").size(), 0U);
  server.pods("gang", 10, kPods - 1);
  server.advance(seconds{70});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
  server.advance(seconds{30});
  EXPECT_EQ(server.nodes_of("gang").size(), 0U);
}

// A gang that ran and lost a pod is not half bound: others look after it.
TEST(HalfBoundFaults, AGangThatWasWholeIsNotReleased) {
  ForeignServer server(seconds{90});
  server.gang("gang", kPods);
  server.pods("gang", 0, kPods);
  server.advance(seconds{10});
  ASSERT_EQ(server.said_by("gang"), "True");
  server.remove("gang-0");
  server.refuse("gang-9");
  server.pods("gang", 9, 1);
  server.advance(minutes{10});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
  server.world().restart_scheduler();
  server.advance(minutes{10});
  EXPECT_EQ(server.nodes_of("gang").size(), kPods - 1);
}

// If a scheduler dies while pods are deleted, the next one goes on, and in the end the gang is
// whole.
TEST(HalfBoundFaults, ARestartInTheMiddleOfAReleaseChangesNothingInTheEnd) {
  for (int crash = 0; crash < 8; ++crash) {
    ForeignServer server(seconds{90});
    server.refuse("gang-1");
    server.gang("gang", kPods);
    server.pods("gang", 0, kPods);
    server.advance(seconds{85});
    server.crash_after(crash);
    server.advance(minutes{4});
    ASSERT_EQ(server.nodes_of("gang").size(), 0U) << "restarted after " << crash;
    server.accept_all();
    server.pods("gang", 10, kPods);
    server.advance(minutes{1});
    ASSERT_GE(server.nodes_of("gang").size(), kPods) << "restarted after " << crash;
    ASSERT_EQ(server.said_by("gang"), "True") << "restarted after " << crash;
    server.expect_sound();
  }
}

}  // namespace
}  // namespace muster::sim
