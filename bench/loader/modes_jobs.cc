// Jobs and JobSets: from the creation of one to the binding of its last pod.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "modes.h"

namespace muster::loader {
namespace {

double ms_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Jobs or JobSets 0…count-1 of this run and how many of their pods have a node. `label` of a pod
// names the one that it is of.
class BoundJobs {
 public:
  BoundJobs(Session& session, std::string_view label, std::size_t count, std::size_t size)
      : session_(session),
        prefix_(session.run() + "-j"),
        label_(fmt::format(R"("{}":"{})", label, prefix_)),
        size_(size),
        sent_(count),
        bound_(count),
        whole_(count) {}

  // The selector lets a pod through once it has a node: the first event of a pod means bound.
  bool watch() {
    const auto list = session_.crowd().ask({.path = session_.path("pods?limit=1")});
    return session_.crowd().follow(
        session_.path("pods?watch=true&fieldSelector=spec.nodeName%21%3D"), revision_in(list.body),
        [this](std::string_view event) { on_event(event); });
  }
  std::string name(std::size_t number) const { return fmt::format("{}{}", prefix_, number); }
  void sent(std::size_t number, SteadyTime when) { sent_[number] = when; }
  bool all_whole() const { return whole_count_ == whole_.size(); }
  std::size_t whole_count() const { return whole_count_; }
  double span_s() const {
    return ms_between(std::ranges::min(sent_), std::ranges::max(whole_)) / 1e3;
  }
  Latencies creation_to_whole() const {
    Latencies latencies;
    for (std::size_t i = 0; i < sent_.size(); ++i) latencies.add(ms_between(sent_[i], whole_[i]));
    return latencies;
  }

 private:
  void on_event(std::string_view event) {
    if (!is_added(event)) return;
    const std::size_t at = event.find(label_);
    if (at == std::string_view::npos) return;
    std::size_t number = 0;
    const char* const first = event.data() + at + label_.size();
    std::from_chars(first, event.data() + event.size(), number);
    if (number >= bound_.size() || ++bound_[number] != size_) return;
    whole_[number] = SteadyClock::now();
    ++whole_count_;
  }

  Session& session_;
  const std::string prefix_;
  const std::string label_;
  const std::size_t size_;
  std::vector<SteadyTime> sent_;
  std::vector<std::size_t> bound_;
  std::vector<SteadyTime> whole_;
  std::size_t whole_count_ = 0;
};

}  // namespace

Report run_jobs(Session& session, const JobsMode& mode) {
  Report report(
      fmt::format("jobs: {} {} of {} pods", mode.jobs, mode.gang ? "gangs" : "Jobs", mode.size));
  BoundJobs jobs(session, "job-name", mode.jobs, mode.size);
  if (!jobs.watch()) {
    report.fail("the server refuses a watch of pods");
    return report;
  }
  const JobShape shape{.run = session.run(), .size = mode.size, .gang = mode.gang};
  Meter meter(session);
  session.create(
      report, fmt::format("/apis/batch/v1/namespaces/{}/jobs", session.options().name_space),
      mode.jobs, [&](std::size_t number) { return job_json(shape, jobs.name(number)); },
      [&](std::size_t number, const Answered& answered) { jobs.sent(number, answered.sent); });
  const bool whole = session.crowd().wait_until([&] { return jobs.all_whole(); },
                                                std::chrono::seconds{session.options().patience_s});
  if (whole) {
    report.add("Jobs/s, created to all pods bound", static_cast<double>(mode.jobs) / jobs.span_s(),
               "/s");
    report.add("creation to all pods bound", jobs.creation_to_whole());
  } else {
    report.fail(
        fmt::format("only {} of {} Jobs have all their pods bound", jobs.whole_count(), mode.jobs));
  }
  meter.add_to(report, mode.jobs, "Jobs");
  session.crowd().close_watches();
  return report;
}

Report run_job_sets(Session& session, const JobSetsMode& mode) {
  const JobSetShape shape{.run = session.run(),
                          .replicated_jobs = mode.replicated_jobs,
                          .replicas = mode.replicas,
                          .size = mode.size};
  Report report(fmt::format("jobsets: {} of {} × {} × {} pods", mode.sets, mode.replicated_jobs,
                            mode.replicas, mode.size));
  BoundJobs sets(session, "jobset.sigs.k8s.io/jobset-name", mode.sets, shape.pods());
  if (!sets.watch()) {
    report.fail("the server refuses a watch of pods");
    return report;
  }
  Meter meter(session);
  session.create(
      report,
      fmt::format("/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
                  session.options().name_space),
      mode.sets, [&](std::size_t number) { return job_set_json(shape, sets.name(number)); },
      [&](std::size_t number, const Answered& answered) { sets.sent(number, answered.sent); });
  const bool whole = session.crowd().wait_until([&] { return sets.all_whole(); },
                                                std::chrono::seconds{session.options().patience_s});
  if (whole) {
    report.add("first created to all pods bound", sets.span_s() * 1e3, "ms");
    report.add("pods/s, created to bound",
               static_cast<double>(mode.sets * shape.pods()) / sets.span_s(), "/s");
    report.add("creation to all pods bound", sets.creation_to_whole());
  } else {
    report.fail(fmt::format("only {} of {} JobSets have all their pods bound", sets.whole_count(),
                            mode.sets));
  }
  meter.add_to(report, mode.sets * shape.pods(), "pods");
  session.crowd().close_watches();
  return report;
}

}  // namespace muster::loader
