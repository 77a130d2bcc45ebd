// One core loop at a time, for callgrind to count the instructions of:
//
//   valgrind --tool=callgrind --collect-atstart=no --toggle-collect=muster_measured core_loops NAME
//
// prints how many operations were measured; `core_loops` alone lists the names.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/fleet.h"
#include "bench/scheduler_loop.h"

// A plain name for --toggle-collect to find.
extern "C" [[gnu::noinline]] void muster_measured(const std::function<void()>& work) { work(); }

namespace muster::bench {
namespace {

using scheduler::Group;
using scheduler::PendingPod;

// Runs the work on all but the first few items, after those have warmed everything up.
template <typename Item, typename Work>
int warm_then_measure(const std::vector<Item>& items, std::size_t warm, Work&& work) {
  for (std::size_t i = 0; i < warm; ++i) work(items[i]);
  muster_measured([&] {
    for (std::size_t i = warm; i < items.size(); ++i) work(items[i]);
  });
  return static_cast<int>(items.size() - warm);
}

int pods(int classes, int count) {
  Fleet fleet({});
  std::vector<PendingPod> waiting;
  for (int i = 0; i < count; ++i) {
    const int kind = classes == Classes::kEach ? i : i % classes;
    waiting.push_back(sized_pod(fmt::format("p{}", i), 100 + kind, 128));
  }
  return warm_then_measure(waiting, 50, [&](const PendingPod& pod) {
    fleet.commit(scheduler::attempt_pod(pod, fleet.cluster(), fleet.profile()));
  });
}

int groups(const GroupShape& shape, int count, int full_percent) {
  Fleet fleet({.full_percent = full_percent});
  return warm_then_measure(make_groups(shape, count), 2,
                           [&](const Group& group) { fleet.commit(fleet.attempt(group)); });
}

const std::map<std::string, std::function<int()>>& loops() {
  static const std::map<std::string, std::function<int()>> all = {
      {"pod of 16 classes", [] { return pods(16, 1050); }},
      {"pod of a new class", [] { return pods(Classes::kEach, 150); }},
      {"gang of 3", [] { return groups({.pods = 3}, 52, 0); }},
      {"rack gang of 4", [] { return groups({.pods = 4, .key = "rack"}, 102, 0); }},
      {"rack gang of 1000", [] { return groups({.pods = 1000, .key = "rack"}, 4, 0); }},
      {"pod through the scheduler", [] { return scheduler_loop(0, 2000, muster_measured); }},
      {"gang of 8 through the scheduler", [] { return scheduler_loop(8, 300, muster_measured); }},
      {"infeasible rack gang of 2000", [] { return groups({.pods = 2000, .key = "rack"}, 4, 80); }},
  };
  return all;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& [name, loop] : loops()) fmt::print("{}\n", name);
    return 0;
  }
  const auto at = loops().find(argv[1]);
  if (at == loops().end()) {
    fmt::print(stderr, "there is no loop '{}'\n", argv[1]);
    return 2;
  }
  fmt::print("{}\n", at->second());
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) { return muster::bench::run(argc, argv); }
