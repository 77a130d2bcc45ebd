// How fast lone pods are placed, each taken into the table before the next.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/fleet.h"
#include "bench/harness.h"

namespace muster::bench {
namespace {

// Reading the clock costs as much as some decisions, so attempts are timed by the hundred.
constexpr int kBatch = 100;

struct Stream {
  FleetSize fleet;
  int classes = 16;
  int pods = 100'000;
  double goal_per_second = 0;
};

std::vector<scheduler::PendingPod> make_pods(const Stream& stream) {
  std::vector<scheduler::PendingPod> pods;
  for (int i = 0; i < stream.pods; ++i) {
    const int kind = stream.classes == Classes::kEach ? i : i % stream.classes;
    pods.push_back(sized_pod(fmt::format("p{}", i), 100 + kind % 997, 128 + kind % 1009));
  }
  return pods;
}

void place_batches(Fleet& fleet, const std::vector<scheduler::PendingPod>& pods, Meter& meter) {
  for (std::size_t from = 0; from < pods.size(); from += kBatch) {
    const std::size_t to = std::min(pods.size(), from + kBatch);
    meter.placed(meter.attempt([&] {
      std::size_t placed = 0;
      for (std::size_t i = from; i < to; ++i) {
        const scheduler::Plan plan =
            scheduler::attempt_pod(pods[i], fleet.cluster(), fleet.profile());
        fleet.commit(plan);
        placed += plan.assignments.size();
      }
      return placed;
    }));
  }
}

void run_stream(Report& report, const Stream& stream) {
  const std::string classes = stream.classes == Classes::kEach ? "every pod a new class"
                              : stream.classes == 1            ? "1 class"
                                                    : fmt::format("{} classes", stream.classes);
  const std::string full =
      stream.fleet.full_percent > 0 ? fmt::format(", {}% full", stream.fleet.full_percent) : "";
  report.run({.name = fmt::format("pods by 100, {} nodes, {}{}", stream.fleet.nodes, classes, full),
              .setup = [stream]() -> std::function<void(Meter&)> {
                const auto fleet = std::make_shared<Fleet>(stream.fleet);
                const auto pods =
                    std::make_shared<std::vector<scheduler::PendingPod>>(make_pods(stream));
                return [fleet, pods](Meter& meter) { place_batches(*fleet, *pods, meter); };
              },
              .pods_expected = static_cast<std::size_t>(stream.pods),
              .goal = {.us = stream.goal_per_second > 0 ? 1e6 / stream.goal_per_second : 0,
                       .of = Goal::Of::Pod}});
}

int run(const Request& request) {
  Report report("Lone pods", request);
  for (const int full : {0, 80}) {
    const FleetSize fleet{.full_percent = full};
    run_stream(report, {.fleet = fleet, .classes = 1, .goal_per_second = 200e3});
    run_stream(report, {.fleet = fleet, .classes = 16, .pods = 50'000, .goal_per_second = 200e3});
    run_stream(report, {.fleet = fleet, .classes = 256, .pods = 20'000});
    run_stream(
        report,
        {.fleet = fleet, .classes = Classes::kEach, .pods = 10'000, .goal_per_second = 20e3});
  }
  const FleetSize big{.nodes = 100'000, .racks = 1000};
  run_stream(report, {.fleet = big, .classes = 16});
  run_stream(report, {.fleet = big, .classes = Classes::kEach, .pods = 300});
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
