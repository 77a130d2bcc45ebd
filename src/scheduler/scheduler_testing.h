#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/scheduler.h"

// A scheduler between a feed of events and an API that the test answers by hand.
namespace muster::scheduler::testing {

// What a test says of a pod; what it does not say has the value a new pod has.
struct PodText {
  std::string uid = {};  // "uid-<name>" if empty
  std::string cpu = "1";
  std::int32_t priority = 0;
  std::string scheduler = "default-scheduler";
  std::string node = {};
  std::string gate = {};
  std::string group = {};
  std::string phase = "Pending";
  bool terminating = false;
  std::string app = {};   // a label
  std::string spec = {};  // further members, each behind a comma
  std::string created = {};
  std::string nominated = {};  // a node
  std::string waits_for = {};  // what it says to autoscalers
};

struct NodeText {
  std::string cpu = "4";
  bool cordoned = false;
  std::string label = {};
  std::string zone = {};
  std::string taint = {};  // a key, with NoSchedule
};

inline api::ObjectPtr parse(const api::Kind& kind, const std::string& text) {
  const auto document = api::parse_json(text);
  EXPECT_TRUE(document.has_value()) << text;
  return api::Object::make(kind, document->value);
}

inline api::ObjectPtr pod_object(const std::string& name, const PodText& pod) {
  const std::string uid = pod.uid.empty() ? "uid-" + name : pod.uid;
  return parse(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"{}","generation":1{}{},"labels":{{{}}}}},"spec":{{"schedulerName":"{}",)"
          R"("priority":{}{}{}{}{},"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},)"
          R"("status":{{"phase":"{}"{}{}}}}})",
          name, uid, pod.terminating ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
          pod.created.empty() ? "" : R"(,"creationTimestamp":")" + pod.created + "\"",
          pod.app.empty() ? "" : R"("app":")" + pod.app + "\"", pod.scheduler, pod.priority,
          pod.spec, pod.node.empty() ? "" : R"(,"nodeName":")" + pod.node + "\"",
          pod.gate.empty() ? "" : R"(,"schedulingGates":[{"name":")" + pod.gate + "\"}]",
          pod.group.empty() ? "" : R"(,"schedulingGroup":{"podGroupName":")" + pod.group + "\"}",
          pod.cpu, pod.phase,
          pod.nominated.empty() ? "" : R"(,"nominatedNodeName":")" + pod.nominated + "\"",
          pod.waits_for.empty()
              ? ""
              : R"(,"conditions":[{"type":"scheduling.muster.dev/WaitsFor","status":"True","reason":")" +
                    pod.waits_for + "\"}]"));
}

inline api::ObjectPtr node_object(const std::string& name, const NodeText& node) {
  return parse(
      api::kinds::node(),
      fmt::format(
          R"({{"metadata":{{"name":"{}","uid":"uid-{}","labels":{{"kubernetes.io/hostname":"{}"{}{}}}}},)"
          R"("spec":{{"unschedulable":{}{}}},)"
          R"("status":{{"allocatable":{{"cpu":"{}","memory":"64Gi","pods":"110"}}}}}})",
          name, name, name, node.label.empty() ? "" : R"(,"x":")" + node.label + "\"",
          node.zone.empty() ? "" : R"(,"zone":")" + node.zone + "\"", node.cordoned,
          node.taint.empty() ? ""
                             : R"(,"taints":[{"effect":"NoSchedule","key":")" + node.taint + "\"}]",
          node.cpu));
}

// Not inlined: GCC 12 would warn about members of an Answer that are not there.
[[gnu::noinline]] inline client::Outcome accepted() { return api::Answer{api::StatusAnswer{}, {}}; }

// A scheduler and an API that answers when told to, and remembers every request as one line.
class World {
 public:
  struct Call {
    api::Request request;
    std::uint64_t ticket;
  };

  explicit World(SchedulerOptions options = {})
      : scheduler(std::move(options), [this](api::Request request, std::uint64_t ticket) {
          log.push_back(line(request));
          calls.push_back({std::move(request), ticket});
        }) {}

  void pod(const std::string& name, PodText text = {}) {
    const bool is_new = pods.insert_or_assign(name, text).second;
    tell(is_new ? client::Event::Type::Added : client::Event::Type::Modified,
         pod_object(name, text));
  }
  void delete_pod(const std::string& name) {
    const api::ObjectPtr last = pod_object(name, pods.at(name));
    pods.erase(name);
    tell(client::Event::Type::Deleted, last);
  }
  void node(const std::string& name, NodeText text = {}) {
    const bool is_new = nodes.insert_or_assign(name, text).second;
    tell(is_new ? client::Event::Type::Added : client::Event::Type::Modified,
         node_object(name, text));
  }
  void delete_node(const std::string& name) {
    const api::ObjectPtr last = node_object(name, nodes.at(name));
    nodes.erase(name);
    tell(client::Event::Type::Deleted, last);
  }
  // A minimum of 0: a Basic group.
  void gang(const std::string& name, int minimum, int priority = 0) {
    gangs[name] = minimum;
    tell(client::Event::Type::Added, gang_object(name, minimum, priority));
  }
  static api::ObjectPtr gang_object(const std::string& name, int minimum, int priority = 0) {
    const std::string policy =
        minimum == 0 ? R"("basic":{})" : fmt::format(R"("gang":{{"minCount":{}}})", minimum);
    return parse(api::kinds::pod_group(),
                 fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"uid-{}"}},)"
                             R"("spec":{{"priority":{},"schedulingPolicy":{{{}}}}}}})",
                             name, name, priority, policy));
  }
  void synced() { scheduler.apply(client::Synced{}, now); }

  // Everything that can be tried without an answer or the passage of time.
  void run() {
    while (scheduler.run_once(now, 10) > 0) {
    }
  }
  // Answers every call as a server does, and lets the watch tell of bindings.
  void answer() {
    while (!calls.empty()) {
      Call call = std::move(calls.front());
      calls.pop_front();
      if (answers && answers(call)) continue;
      if (call.request.kind == &api::kinds::group_binding()) {
        answer_tree(call);
        continue;
      }
      if (call.request.subresource != "binding") {
        scheduler.apply(client::Called{call.ticket, accepted()}, now);
        continue;
      }
      const auto at = pods.find(call.request.name);
      const bool is_gone = at == pods.end();
      const auto wanted = api::find_string(*api::find(call.request.body, "metadata"), "uid");
      if (is_gone || !at->second.node.empty() ||
          pod_object(at->first, at->second)->meta().uid != wanted) {
        refuse(call.ticket, is_gone ? Reason::NotFound : Reason::Conflict);
        continue;
      }
      scheduler.apply(client::Called{call.ticket, accepted()}, now);
      PodText bound = at->second;
      bound.node = api::find_string(*api::find(call.request.body, "target"), "name");
      pod(call.request.name, bound);
    }
  }
  // All pods of a GroupBinding or none, as the server does it.
  void answer_tree(const Call& call) {
    const api::Json& items = *api::find_path(call.request.body, "spec.pods");
    for (const api::Json& item : items.as_array()) {
      const auto at = pods.find(std::string(api::find_string(item, "name")));
      if (at == pods.end() || !at->second.node.empty() ||
          !nodes.contains(std::string(api::find_string(item, "nodeName"))))
        return refuse(call.ticket, Reason::Conflict);
    }
    scheduler.apply(client::Called{call.ticket, accepted()}, now);
    for (const api::Json& item : items.as_array()) {
      const std::string name(api::find_string(item, "name"));
      PodText bound = pods.at(name);
      bound.node = api::find_string(item, "nodeName");
      pod(name, bound);
    }
  }
  void refuse(std::uint64_t ticket, Reason reason) {
    scheduler.apply(client::Called{ticket, fail(reason, "refused with {}", reason_name(reason))},
                    now);
  }
  void settle() {
    do {
      run();
      answer();
    } while (scheduler.run_once(now, 1) > 0 || !calls.empty());
  }

  std::string node_of(const std::string& pod) const { return pods.at(pod).node; }
  // The requests since the last look that contain `part`.
  std::vector<std::string> requests(const std::string& part) {
    std::vector<std::string> out;
    for (const std::string& request : log)
      if (request.find(part) != std::string::npos) out.push_back(request);
    return out;
  }

  Time now{std::chrono::seconds{1'000'000'000}};
  std::vector<std::string> log;
  std::deque<Call> calls;
  std::map<std::string, PodText> pods;
  std::map<std::string, NodeText> nodes;
  std::map<std::string, int> gangs;
  std::function<bool(const Call& call)> answers;  // some calls in another way; may be empty
  Scheduler scheduler;

 private:
  static std::string line(const api::Request& request) {
    return fmt::format("{} {}/{}/{}/{} {}", static_cast<int>(request.verb), request.kind->plural,
                       request.name_space, request.name, request.subresource,
                       api::to_text(request.body));
  }
  void tell(client::Event::Type type, const api::ObjectPtr& object) {
    scheduler.apply(client::Event{type, object}, now);
  }
};

}  // namespace muster::scheduler::testing
