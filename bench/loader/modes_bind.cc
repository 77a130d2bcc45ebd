// The modes that end with bound pods.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "modes.h"

namespace muster::loader {
namespace {

double ms_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Pods 0…count-1 of this run, from the first byte of their creation to the watch event that shows
// them on a node.
class BoundPods {
 public:
  BoundPods(Session& session, std::size_t count)
      : session_(session), prefix_(session.run() + "-p"), sent_(count), bound_(count) {}

  // The selector lets a pod through once it has a node: the first event of a pod means bound.
  bool watch() {
    const auto list = session_.crowd().ask({.path = session_.path("pods?limit=1")});
    return session_.crowd().follow(
        session_.path("pods?watch=true&fieldSelector=spec.nodeName%21%3D"), revision_in(list.body),
        [this](std::string_view event) { on_event(event); });
  }
  void sent(std::size_t number, SteadyTime when) { sent_[number] = when; }
  std::string name(std::size_t number) const { return fmt::format("{}{}", prefix_, number); }
  bool all_bound() const { return bound_count_ == bound_.size(); }
  std::size_t bound_count() const { return bound_count_; }
  double span_s() const {
    return ms_between(std::ranges::min(sent_), std::ranges::max(bound_)) / 1e3;
  }
  // Of the pods from first on, `count` together: from the first creation to the last binding.
  double span_ms(std::size_t first, std::size_t count) const {
    const auto at = static_cast<std::ptrdiff_t>(first);
    const auto size = static_cast<std::ptrdiff_t>(count);
    return ms_between(*std::min_element(sent_.begin() + at, sent_.begin() + at + size),
                      *std::max_element(bound_.begin() + at, bound_.begin() + at + size));
  }
  Latencies creation_to_bound() const {
    Latencies latencies;
    for (std::size_t i = 0; i < sent_.size(); ++i) latencies.add(ms_between(sent_[i], bound_[i]));
    return latencies;
  }

 private:
  void on_event(std::string_view event) {
    if (!is_added(event)) return;
    const std::size_t number = number_in(event, prefix_);
    if (number >= bound_.size() || bound_[number] != SteadyTime{}) return;
    bound_[number] = SteadyClock::now();
    ++bound_count_;
  }

  Session& session_;
  const std::string prefix_;
  std::vector<SteadyTime> sent_;
  std::vector<SteadyTime> bound_;
  std::size_t bound_count_ = 0;
};

// Creates the pods, waits until all are bound, reports what it cost; false if they were not.
bool create_and_wait(Session& session, BoundPods& pods, std::size_t count,
                     const Session::Body& body, Report& report) {
  if (!pods.watch()) {
    report.fail("the server refuses a watch of pods");
    return false;
  }
  Meter meter(session);
  Latencies answered_after;
  session.create(report, session.path("pods"), count, body,
                 [&](std::size_t number, const Answered& answered) {
                   pods.sent(number, answered.sent);
                   answered_after.add(ms_between(answered.sent, SteadyClock::now()));
                 });
  const double created_s = meter.seconds();
  const bool bound = session.crowd().wait_until([&] { return pods.all_bound(); },
                                                std::chrono::seconds{session.options().patience_s});
  if (bound) {
    report.add("pods/s, created to bound", static_cast<double>(count) / pods.span_s(), "/s");
    report.add("creation to bound", pods.creation_to_bound());
  } else {
    report.fail(fmt::format("only {} of {} pods were bound", pods.bound_count(), count));
  }
  report.add("creates/s", static_cast<double>(count) / created_s, "/s");
  report.add("create answered after", answered_after);
  meter.add_to(report, count, "pods");
  session.crowd().close_watches();
  return bound;
}

}  // namespace

Report run_pods(Session& session, const PodsMode& mode) {
  Report report(fmt::format("pods: {} lone pods", mode.pods));
  BoundPods pods(session, mode.pods);
  const PodShape shape{.run = session.run()};
  create_and_wait(
      session, pods, mode.pods,
      [&](std::size_t number) { return pod_json(shape, pods.name(number)); }, report);
  return report;
}

Report run_gangs(Session& session, const GangsMode& mode) {
  Report report(fmt::format("gangs: {} groups of {}{}", mode.groups, mode.size,
                            mode.topology_key.empty() ? "" : ", each inside one rack"));
  if (session.group_version().empty()) {
    report.fail("the server knows no podgroups.scheduling.k8s.io");
    return report;
  }
  const auto group_name = [&](std::size_t group) {
    return fmt::format("{}-g{}", session.run(), group);
  };
  const GroupShape group{.run = session.run(),
                         .version = session.group_version(),
                         .min_count = mode.size,
                         .topology_key = mode.topology_key};
  session.create(report, session.group_path(), mode.groups,
                 [&](std::size_t number) { return group_json(group, group_name(number)); });
  BoundPods pods(session, mode.groups * mode.size);
  PodShape shape{.run = session.run()};
  const bool bound = create_and_wait(
      session, pods, mode.groups * mode.size,
      [&](std::size_t number) {
        shape.group = group_name(number / mode.size);
        return pod_json(shape, pods.name(number));
      },
      report);
  if (!bound) return report;
  Latencies whole;
  for (std::size_t i = 0; i < mode.groups; ++i) whole.add(pods.span_ms(i * mode.size, mode.size));
  report.add("first creation to last bound of a group", whole);
  return report;
}

}  // namespace muster::loader
