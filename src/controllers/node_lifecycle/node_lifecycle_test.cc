#include "controllers/node_lifecycle/node_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "api/reading.h"
#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

// A server for the controller's few calls: patches are merged and shown again.
class NodeLifecycleTest : public ::testing::Test {
 protected:
  void node(std::string_view name, std::string_view ready, std::string_view heartbeat = "t0",
            std::string_view annotations = "") {
    const std::string conditions =
        ready.empty() ? ""
                      : fmt::format(R"({{"type":"Ready","status":"{}","lastHeartbeatTime":"{}"}})",
                                    ready, heartbeat);
    show(api::kinds::node(),
         fmt::format(R"({{"metadata":{{"name":"{}","uid":"u-{}","annotations":{{{}}},)"
                     R"("creationTimestamp":"1970-01-01T00:00:00Z"}},)"
                     R"("spec":{{}},"status":{{"conditions":[{}]}}}})",
                     name, name, annotations, conditions));
  }
  void lease(std::string_view name, std::string_view renewed) {
    show(api::kinds::lease(), fmt::format(R"({{"metadata":{{"name":"{}",)"
                                          R"("namespace":"kube-node-lease"}},)"
                                          R"("spec":{{"renewTime":"{}"}}}})",
                                          name, renewed));
  }
  void show(const api::Kind& kind, std::string_view json) {
    controller_.apply(client::Event{.type = Type::Modified, .object = object(kind, json)}, now_);
  }
  void sync() { controller_.apply(client::Synced{}, now_); }
  // Lets time pass, stopping at every deadline. Calls are answered but change nothing.
  Texts after(Duration duration) {
    const Time end = now_ + duration;
    run();
    for (auto next = controller_.next_deadline(); next && *next <= end;
         next = controller_.next_deadline()) {
      now_ = std::max(now_, *next);
      run();
    }
    now_ = end;
    return std::exchange(asked_, {});
  }
  void run() {
    while (controller_.run_once(now_, 100) > 0 || shown_ < sent_.requests.size()) {
      for (; shown_ < sent_.requests.size(); ++shown_) {
        const api::Request request = sent_.requests[shown_].first;
        if (request.kind != &api::kinds::event()) asked_.push_back(text(request));
        if (serve_) serve_(request);
        Result<api::Answer> outcome = api::Answer{};
        if (fails_) outcome = fail(Reason::ServiceUnavailable, "the server is busy");
        controller_.apply(
            client::Called{.ticket = sent_.requests[shown_].second, .outcome = std::move(outcome)},
            now_);
      }
    }
  }
  // "name status Ready=Unknown/NodeStatusUnknown", "name taints unreachable:NoSchedule".
  static std::string text(const api::Request& request) {
    std::string out = request.name;
    if (request.verb == api::Verb::Delete) return out + " deleted";
    const api::Json& status = api::part_of(request.body, "status");
    for (const api::Json& condition : api::elements(status, "conditions"))
      if (const auto type = api::find_string(condition, "type"); !type.ends_with("Pressure"))
        out += fmt::format(" {}={}/{}", type, api::find_string(condition, "status"),
                           api::find_string(condition, "reason"));
    if (const api::Json* taints = api::find_path(request.body, "spec.taints"))
      for (const api::Json& taint : taints->get_array())
        out += fmt::format(" {}:{}", api::find_string(taint, "key").substr(19),
                           api::find_string(taint, "effect"));
    return out;
  }

  client::ComponentContext context() {
    client::ComponentContext context = sent_.context();
    context.metrics = &metrics_;
    return context;
  }
  std::uint64_t objects_read() const {
    constexpr std::string_view kSeries =
        R"(muster_controller_objects_read_total{name="node-lifecycle"} )";
    const std::string all = metrics_.text();
    return std::stoull(all.substr(all.find(kSeries) + kSeries.size()));
  }

  Time now_{};
  Metrics metrics_;
  Sent sent_;
  std::size_t shown_ = 0;
  Texts asked_;
  std::function<void(const api::Request&)> serve_;  // what a call changes
  bool fails_ = false;                              // every call
  NodeLifecycle controller_{context()};
};

constexpr std::string_view kPretend = R"("muster.dev/node":"pretend")";

TEST_F(NodeLifecycleTest, ANodeThatFallsSilentIsDeclaredSo) {
  node("n1", "True");
  sync();
  EXPECT_EQ(after(seconds{49}), Texts{});
  EXPECT_EQ(after(seconds{2}), Texts{"n1 Ready=Unknown/NodeStatusUnknown"});
}

TEST_F(NodeLifecycleTest, LeasesAndStatusAreHeartbeats) {
  node("n1", "True");
  node("n2", "True");
  sync();
  after(seconds{40});
  lease("n1", "r1");
  node("n2", "True", "t1");
  EXPECT_EQ(after(seconds{40}), Texts{});
  lease("n1", "r1");  // nothing new
  lease("n2", "r1");
  EXPECT_EQ(after(seconds{15}), Texts{"n1 Ready=Unknown/NodeStatusUnknown"});
}

TEST_F(NodeLifecycleTest, ANodeThatNeverReportedHasAMinute) {
  node("n1", "");
  sync();
  EXPECT_EQ(after(seconds{59}), Texts{"n1 not-ready:NoSchedule"});
  EXPECT_EQ(after(seconds{2}), Texts{"n1 Ready=Unknown/NodeStatusNeverUpdated"});
}

TEST_F(NodeLifecycleTest, APretendNodeLivesUntilItIsMadeToFail) {
  node("n1", "True", "t0", kPretend);
  node("n2", "True", "t0", kPretend);
  sync();
  EXPECT_EQ(after(std::chrono::hours{1}), Texts{});
  node("n1", "True", "t0", fmt::format(R"({},"muster.dev/fail":"true")", kPretend));
  lease("n1", "r1");
  EXPECT_EQ(after(seconds{51}), Texts{"n1 Ready=Unknown/NodeStatusUnknown"})
      << "nobody renews the lease of a pretend node but to deceive";
}

TEST_F(NodeLifecycleTest, ReadyNodesLoseTheTaintsOfTheirRegistration) {
  show(
      api::kinds::node(),
      R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]},
           "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  sync();
  EXPECT_EQ(after(seconds{1}), Texts{"n1"});
}

TEST_F(NodeLifecycleTest, PodsAreDrivenAwayOnlyAfterASecondLook) {
  node("n1", "True", "t0", kPretend);
  node("n2", "False", "t0", kPretend);
  sync();
  EXPECT_EQ(after(seconds{4}), Texts{"n2 not-ready:NoSchedule"});
  EXPECT_EQ(after(seconds{2}), Texts{"n2 not-ready:NoSchedule not-ready:NoExecute"});
  node("n1", "False", "t0", kPretend);
  EXPECT_EQ(after(seconds{30}), (Texts{"n1 not-ready:NoSchedule", "n2 not-ready:NoSchedule"}))
      << "everything is down: nobody is driven away";
}

TEST_F(NodeLifecycleTest, ANodeThatWasBackIsLookedAtTwiceAgain) {
  node("n1", "True", "t0", kPretend);
  node("n2", "False", "t0", kPretend);
  sync();
  EXPECT_EQ(after(seconds{6}).back(), "n2 not-ready:NoSchedule not-ready:NoExecute");
  node("n2", "True", "t0", kPretend);
  EXPECT_EQ(after(seconds{30}), Texts{});
  node("n2", "False", "t0", kPretend);
  EXPECT_EQ(after(seconds{4}), Texts{"n2 not-ready:NoSchedule"});
  EXPECT_EQ(after(seconds{2}), Texts{"n2 not-ready:NoSchedule not-ready:NoExecute"});
}

TEST_F(NodeLifecycleTest, PodsThatDoNotTolerateItLeave) {
  show(api::kinds::node(),
       R"({"metadata":{"name":"n1","annotations":{"muster.dev/node":"pretend"}},
           "spec":{"taints":[{"key":"a","effect":"NoExecute"}]},
           "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  const auto pod = [&](std::string_view name, std::string_view tolerations,
                       std::string_view status) {
    show(api::kinds::pod(),
         fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"u-{}"}},)"
                     R"("spec":{{"nodeName":"n1","tolerations":[{}]}},"status":{{{}}}}})",
                     name, name, tolerations, status));
  };
  constexpr std::string_view kMarked =
      R"("conditions":[{"type":"DisruptionTarget","status":"True"}])";
  pod("now", "", "");
  pod("later", R"({"operator":"Exists","tolerationSeconds":60})", "");
  pod("never", R"({"operator":"Exists"})", "");
  pod("ended", "", R"("phase":"Succeeded")");
  sync();
  EXPECT_EQ(after(seconds{59}),
            (Texts{"now DisruptionTarget=True/DeletionByTaintManager", "ended deleted"}));
  pod("now", "", kMarked);
  EXPECT_EQ(after(seconds{0}), Texts{"now deleted"});
  EXPECT_EQ(after(seconds{1}), Texts{"later DisruptionTarget=True/DeletionByTaintManager"});
}

TEST_F(NodeLifecycleTest, PodsOfASilentNodeAreNotReady) {
  node("n1", "Unknown", "t0", kPretend);
  node("n2", "False", "t0", kPretend);
  for (const std::string_view name : {"n1", "n2"})
    show(api::kinds::pod(),
         fmt::format(
             R"({{"metadata":{{"name":"on-{0}","namespace":"ns"}},"spec":{{"nodeName":"{0}"}},)"
             R"("status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
             name));
  sync();
  const Texts asked = after(seconds{1});
  EXPECT_EQ(std::ranges::count(asked, "on-n1 Ready=False/"), 1);
  EXPECT_EQ(std::ranges::count(asked, "on-n2 Ready=False/"), 0)
      << "a kubelet that reports a failure answers for its pods";
}

TEST_F(NodeLifecycleTest, AllPodsOfASilentNodeAreMarkedInTimeThatGrowsWithThem) {
  constexpr int kPods = 2'000;
  const auto pod = [&](std::string_view name, std::string_view ready) {
    show(api::kinds::pod(),
         fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"}},"spec":{{"nodeName":"n1"}},)"
                     R"("status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                     name, ready));
  };
  serve_ = [&](const api::Request& request) {
    if (request.kind == &api::kinds::pod()) pod(request.name, "False");
  };
  for (int i = 0; i < kPods / 2; ++i) pod(fmt::format("p{}", i), "True");
  node("n1", "Unknown", "t0", kPretend);
  for (int i = kPods / 2; i < kPods; ++i) pod(fmt::format("p{}", i), "True");
  sync();
  const Texts asked = after(seconds{1});
  EXPECT_EQ(std::ranges::count_if(asked, [](const std::string& it) { return it.starts_with("p"); }),
            kPods)
      << "each once";
  EXPECT_LT(objects_read(), 5 * kPods);

  pod("p7", "True");
  EXPECT_EQ(std::ranges::count(after(seconds{1}), "p7 Ready=False/"), 1)
      << "it claims to be ready again";
  node("n1", "True", "t1", kPretend);
  pod("p8", "True");
  after(seconds{1});
  node("n1", "Unknown", "t1", kPretend);
  const Texts again = after(seconds{1});
  EXPECT_EQ(std::ranges::count(again, "p8 Ready=False/"), 1) << "the node is silent again";
}

TEST_F(NodeLifecycleTest, APodThatCouldNotBeMarkedIsMarkedLater) {
  show(api::kinds::pod(), R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":"n1"},)"
                          R"("status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  node("n1", "Unknown", "t0", kPretend);
  sync();
  fails_ = true;
  EXPECT_GE(std::ranges::count(after(seconds{1}), "p Ready=False/"), 1);
  fails_ = false;
  EXPECT_GE(std::ranges::count(after(seconds{30}), "p Ready=False/"), 1);
}

TEST_F(NodeLifecycleTest, APretendNodeThatIsWellAgainIsHeardFrom) {
  const std::string failing = fmt::format(R"({},"muster.dev/fail":"true")", kPretend);
  node("n1", "True", "t0", failing);
  sync();
  EXPECT_EQ(after(seconds{30}), Texts{});
  node("n1", "True", "t0", failing);
  EXPECT_EQ(after(seconds{15}), Texts{}) << "another version of it is no heartbeat";
  node("n1", "True", "t0", kPretend);
  EXPECT_EQ(after(std::chrono::hours{1}), Texts{});
  node("n1", "True", "t0", failing);
  EXPECT_EQ(after(seconds{49}), Texts{});
  EXPECT_EQ(after(seconds{2}), Texts{"n1 Ready=Unknown/NodeStatusUnknown"});
}

TEST_F(NodeLifecycleTest, ALeaseElsewhereOrAnOldHeartbeatIsNone) {
  node("n1", "True");
  sync();
  after(seconds{40});
  show(api::kinds::lease(), R"({"metadata":{"name":"n1","namespace":"default"},)"
                            R"("spec":{"renewTime":"r1"}})");
  node("n1", "True", "t0", R"("x":"y")");
  EXPECT_EQ(after(seconds{11}), Texts{"n1 Ready=Unknown/NodeStatusUnknown"});
}

TEST_F(NodeLifecycleTest, ANodeThatFallsSilentIsAnEvent) {
  node("n1", "True");
  node("n2", "False");
  sync();
  after(seconds{51});
  Texts notes;
  for (const auto& [request, ticket] : sent_.requests)
    if (request.kind == &api::kinds::event())
      notes.push_back(fmt::format("{} {}", api::find_string(request.body, "reason"),
                                  api::find_string(request.body, "message")));
  EXPECT_EQ(notes, Texts{"NodeNotReady Node n1 status is now: NodeNotReady"});
}

TEST_F(NodeLifecycleTest, APodWhoseTaintGoesStaysAndSaysSo) {
  const auto tainted = [&](std::string_view taints) {
    show(api::kinds::node(),
         fmt::format(R"({{"metadata":{{"name":"n1","annotations":{{"muster.dev/node":"pretend"}}}},
           "spec":{{"taints":[{}]}},"status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                     taints));
  };
  tainted(R"({"key":"a","effect":"NoExecute"})");
  const auto pod = [&](std::string_view uid, std::string_view meta = "") {
    show(api::kinds::pod(),
         fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","uid":"{}"{}}},"spec":{{)"
                     R"("nodeName":"n1","tolerations":[{{"operator":"Exists",)"
                     R"("tolerationSeconds":60}}]}}}})",
                     uid, meta));
  };
  pod("u1");
  sync();
  EXPECT_EQ(after(seconds{30}), Texts{});
  tainted("");
  EXPECT_EQ(after(seconds{60}), Texts{});
  Texts notes;
  for (const auto& [request, ticket] : sent_.requests)
    if (request.kind == &api::kinds::event())
      notes.emplace_back(api::find_string(request.body, "message"));
  EXPECT_EQ(notes, Texts{"Cancelling deletion of Pod ns/p"});
  // A later taint gives it its whole time, and one that was made again under its name too.
  tainted(R"({"key":"a","effect":"NoExecute"})");
  EXPECT_EQ(after(seconds{59}), Texts{});
  pod("u2");
  EXPECT_EQ(after(seconds{59}), Texts{});
  EXPECT_EQ(after(seconds{1}), Texts{"p DisruptionTarget=True/DeletionByTaintManager"});
  pod("u2", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
  EXPECT_EQ(after(seconds{60}), Texts{}) << "it is going";
}

TEST_F(NodeLifecycleTest, WhenTheFirstOfAllNodesIsBackTheOthersHaveTheirTimeAgain) {
  node("n1", "False");
  node("n2", "False");
  sync();
  EXPECT_EQ(after(seconds{45}), (Texts{"n1 not-ready:NoSchedule", "n2 not-ready:NoSchedule"}));
  node("n1", "True", "t1");
  EXPECT_EQ(std::ranges::count(after(seconds{9}), "n2 Ready=Unknown/NodeStatusUnknown"), 0)
      << "we may have been the deaf ones";
  const Texts later = after(seconds{42});
  EXPECT_EQ(std::ranges::count(later, "n2 Ready=Unknown/NodeStatusUnknown"), 1);
}

TEST_F(NodeLifecycleTest, ANodeThatIsGoneIsNotWaitedFor) {
  node("n1", "True");
  node("n2", "False", "t0", kPretend);
  node("n3", "True", "t0", kPretend);
  sync();
  after(seconds{1});
  controller_.apply(
      client::Event{.type = Type::Deleted,
                    .object = object(api::kinds::node(), R"({"metadata":{"name":"n1"}})")},
      now_);
  controller_.apply(
      client::Event{.type = Type::Deleted,
                    .object = object(api::kinds::node(), R"({"metadata":{"name":"n3"}})")},
      now_);
  for (const std::string& text : after(seconds{100})) {
    EXPECT_EQ(text, "n2 not-ready:NoSchedule") << "all that is left is down: nobody is driven away";
  }
}

}  // namespace
}  // namespace muster::controllers
