// What a crowd costs those who are not part of it: a whole scheduler whose API accepts everything,
// with thousands of pods and gangs that wait, or trees that nobody can place.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "bench/harness.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/scheduler.h"

namespace muster::bench {
namespace {

using client::Event;
using scheduler::NodeSample;
using scheduler::PodSample;
using scheduler::Scheduler;

// Not inlined: GCC 12 would warn about members of an Answer that are not there.
[[gnu::noinline]] client::Outcome accepted() { return api::Answer{api::StatusAnswer{}, {}}; }

constexpr std::string_view kOurs = R"("schedulerName":"default-scheduler")";

class Crowd {
 public:
  Crowd()
      : scheduler_({}, [this](const api::Request& request, std::uint64_t ticket) {
          if (request.subresource == "binding") ++bound_;
          tickets_.push_back(ticket);
        }) {
    scheduler_.apply(client::Synced{}, now_);
  }

  void add(const api::ObjectPtr& object) {
    scheduler_.apply(Event{Event::Type::Added, object}, now_);
  }
  void change(const api::ObjectPtr& object) {
    scheduler_.apply(Event{Event::Type::Modified, object}, now_);
  }
  void remove(const api::ObjectPtr& object) {
    scheduler_.apply(Event{Event::Type::Deleted, object}, now_);
  }
  void run() {
    while (scheduler_.run_once(now_, 100) > 0 || !tickets_.empty())
      for (const std::uint64_t ticket : std::exchange(tickets_, {}))
        scheduler_.apply(client::Called{ticket, accepted()}, now_);
  }
  void pass(std::chrono::milliseconds time) { now_ += time; }
  std::size_t bound() const { return bound_; }

 private:
  Time now_{std::chrono::seconds{1000}};
  std::vector<std::uint64_t> tickets_;
  std::size_t bound_ = 0;
  Scheduler scheduler_;
};

api::ObjectPtr pod(const std::string& name, const std::string& cpu, const std::string& group = {},
                   const std::string& node = {}) {
  return PodSample{
      .name = name, .cpu = cpu, .node_name = node, .group = group, .spec = std::string(kOurs)}
      .make();
}

api::ObjectPtr group(const api::Kind& kind, const std::string& name, const std::string& spec) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"group-{0}"}},"spec":{{{1}}},"status":{{}}}})",
      name, spec));
  return api::Object::make(kind, document->value);
}

// Nodes with room for two pods of one cpu, both taken.
std::vector<api::ObjectPtr> fill(Crowd& crowd, int nodes, int racks) {
  std::vector<api::ObjectPtr> running;
  for (int i = 0; i < nodes; ++i) {
    const std::string node = fmt::format("n{}", i);
    crowd.add(
        NodeSample{.name = node, .cpu = "2", .labels = {{"rack", fmt::format("r{}", i % racks)}}}
            .make());
    for (int k = 0; k < 2; ++k) {
      running.push_back(pod(fmt::format("old{}-{}", i, k), "1", {}, node));
      crowd.add(running.back());
    }
  }
  return running;
}

// 10,000 pods of one Basic group and one freed slot at a time.
void drain_basic(Report& report) {
  Crowd crowd;
  std::vector<api::ObjectPtr> running = fill(crowd, 1000, 10);
  crowd.add(group(api::kinds::pod_group(), "basic", R"("schedulingPolicy":{"basic":{}})"));
  for (int i = 0; i < 10'000; ++i) crowd.add(pod(fmt::format("p{}", i), "1", "basic"));
  crowd.run();
  constexpr int kSlots = 1000;
  const double start = cpu_us();
  for (int i = 0; i < kSlots; ++i) {
    crowd.pass(std::chrono::milliseconds{1100});
    crowd.remove(running[static_cast<std::size_t>(i)]);
    crowd.run();
  }
  if (crowd.bound() != kSlots) report.fail(fmt::format("{} pods were bound", crowd.bound()));
  report.figure("10,000 of one Basic group wait, a slot is freed", (cpu_us() - start) / kSlots,
                "us", 50);
}

// 1,000 rack gangs wait, 100 pods are deleted each second; a lone pod comes with every tenth.
void lone_pod_among_gangs(Report& report) {
  Crowd crowd;
  std::vector<api::ObjectPtr> running = fill(crowd, 1000, 50);
  for (int g = 0; g < 1000; ++g) {
    const std::string name = fmt::format("g{}", g);
    crowd.add(group(api::kinds::pod_group(), name,
                    R"("schedulingPolicy":{"gang":{"minCount":8}},)"
                    R"("schedulingConstraints":{"topology":[{"key":"rack"}]})"));
    for (int p = 0; p < 8; ++p) crowd.add(pod(fmt::format("{}-{}", name, p), "2", name));
  }
  crowd.run();
  double longest = 0;
  double total = 0;
  constexpr std::size_t kDeletions = 500;
  for (std::size_t i = 0; i < kDeletions; ++i) {
    crowd.pass(std::chrono::milliseconds{10});
    const double start = cpu_us();
    crowd.remove(running[2 * i]);
    if (i % 10 == 0) crowd.add(pod(fmt::format("lone{}", i), "1"));
    crowd.run();
    longest = std::max(longest, cpu_us() - start);
    total += cpu_us() - start;
  }
  if (crowd.bound() != kDeletions / 10) report.fail(fmt::format("{} were bound", crowd.bound()));
  report.figure("1,000 gangs wait, a pod is deleted and a lone pod bound: longest", longest / 1e3,
                "ms", 50);
  report.figure("the same: mean per deletion", total / kDeletions, "us");
}

// A chain of composites, created child first; then a lone pod.
void lone_pod_beside_a_chain(Report& report, int length, double goal_ms) {
  Crowd crowd;
  crowd.add(NodeSample{.name = "n1", .cpu = "4"}.make());
  const double start = cpu_us();
  for (int i = 0; i < length; ++i)
    crowd.add(group(api::kinds::composite_pod_group(), fmt::format("c{}", i),
                    fmt::format(R"("schedulingPolicy":{{"gang":{{"minGroupCount":1}}}},)"
                                R"("parentCompositePodGroupName":"c{}")",
                                i + 1)));
  const double chained = cpu_us();
  crowd.add(pod("lone", "1"));
  crowd.run();
  if (crowd.bound() != 1) report.fail("the lone pod was not bound");
  report.figure(fmt::format("{} chained composites: each", length), (chained - start) / length,
                "us");
  report.figure(fmt::format("{} chained composites: a lone pod", length),
                (cpu_us() - chained) / 1e3, "ms", goal_ms);
}

// Every waiting pod is a class of its own; what a binding that the watch confirms costs the queue.
void binding_among_classes(Report& report) {
  Crowd crowd;
  crowd.add(NodeSample{.name = "n1", .cpu = "1"}.make());
  constexpr int kClasses = 200'000;
  for (int i = 0; i < kClasses; ++i)
    crowd.add(pod(fmt::format("p{}", i), fmt::format("{}m", 2000 + i)));
  crowd.run();
  constexpr int kBindings = 1000;
  std::vector<api::ObjectPtr> bound;
  for (int i = 0; i < kBindings; ++i)
    bound.push_back(pod(fmt::format("other{}", i), "1m", {}, "n1"));
  const double start = cpu_us();
  for (const api::ObjectPtr& one : bound) crowd.add(one);
  report.figure("200,000 classes wait, a binding is confirmed", (cpu_us() - start) / kBindings,
                "us", 20);
}

api::ObjectPtr service(int number) {
  const auto document = api::parse_json(
      fmt::format(R"({{"metadata":{{"name":"s{0}","namespace":"default","uid":"s{0}"}},)"
                  R"("spec":{{"selector":{{"team":"one","app":"s{0}"}}}}}})",
                  number));
  return api::Object::make(*api::find_kind("", "Service"), document->value);
}

// 100,000 Services whose selectors share a label: what each costs, and what pods of them cost, each
// the first of its Service, among pods that run.
void pods_of_services(Report& report) {
  Crowd crowd;
  constexpr int kServices = 100'000;
  constexpr int kRunning = 10'000;
  constexpr int kPods = 1000;
  const auto labels = [](int number) -> std::map<std::string, std::string> {
    return {{"team", "one"}, {"app", fmt::format("s{}", number)}};
  };
  for (int i = 0; i < 1000; ++i)
    crowd.add(NodeSample{.name = fmt::format("n{}", i), .cpu = "64", .pods = 100}.make());
  for (int i = 0; i < kRunning; ++i)
    crowd.add(PodSample{.name = fmt::format("old{}", i),
                        .cpu = "1",
                        .node_name = fmt::format("n{}", i % 1000),
                        .labels = labels(kPods + i)}
                  .make());
  std::vector<api::ObjectPtr> services;
  for (int i = 0; i < kServices; ++i) services.push_back(service(i));
  const double start = cpu_us();
  for (const api::ObjectPtr& one : services) crowd.add(one);
  const double added = cpu_us();
  for (int i = 0; i < kPods; ++i)
    crowd.add(PodSample{
        .name = fmt::format("p{}", i), .cpu = "1", .spec = std::string(kOurs), .labels = labels(i)}
                  .make());
  crowd.run();
  if (crowd.bound() != kPods) report.fail(fmt::format("{} pods were bound", crowd.bound()));
  report.figure("100,000 Services that share a label: each", (added - start) / kServices, "us");
  report.figure("the first pod of each of 1,000 of them, 10,000 pods run",
                (cpu_us() - added) / kPods, "us");
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  using namespace muster::bench;
  Report report("A crowd that waits", parse_arguments(argc, argv));
  if (report.wants("basic")) drain_basic(report);
  if (report.wants("gangs")) lone_pod_among_gangs(report);
  if (report.wants("chain")) {
    lone_pod_beside_a_chain(report, 3'000, 100);
    lone_pod_beside_a_chain(report, 100'000, 100);
  }
  if (report.wants("classes")) binding_among_classes(report);
  if (report.wants("services")) pods_of_services(report);
  return report.finish();
}
