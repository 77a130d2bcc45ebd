#include "bench/scheduler_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/scheduler.h"

namespace muster::bench {
namespace {

using client::Event;
using scheduler::PodSample;
using scheduler::Scheduler;

// Not inlined: GCC 12 would warn about members of an Answer that are not there.
[[gnu::noinline]] client::Outcome accepted() { return api::Answer{api::StatusAnswer{}, {}}; }

// A scheduler with one large node, whose API accepts everything: deciding costs next to nothing, so
// that what is left is intake, queue and commit.
class Plant {
 public:
  Plant()
      : scheduler_(
            {}, [this](const api::Request&, std::uint64_t ticket) { tickets_.push_back(ticket); }) {
    apply(
        Event::Type::Added,
        scheduler::NodeSample{.name = "n0", .cpu = "1000000", .memory = "8000Ti", .pods = 1'000'000}
            .make());
    scheduler_.apply(client::Synced{}, now_);
  }

  void apply(Event::Type type, const api::ObjectPtr& object) {
    scheduler_.apply(Event{type, object}, now_);
  }
  // Decides everything and has every call accepted, until nothing happens any more.
  void run() {
    while (scheduler_.run_once(now_, 100) > 0 || !tickets_.empty())
      for (const std::uint64_t ticket : std::exchange(tickets_, {}))
        scheduler_.apply(client::Called{ticket, accepted()}, now_);
  }

 private:
  Time now_{std::chrono::seconds{1000}};
  std::vector<std::uint64_t> tickets_;
  Scheduler scheduler_;
};

// The life of one pod, as the watch shows it.
struct Life {
  api::ObjectPtr waiting;
  api::ObjectPtr bound;
};

Life life_of(const std::string& name, const std::string& group) {
  PodSample pod{.name = name,
                .cpu = "100m",
                .memory = "128Mi",
                .group = group,
                .spec = R"("schedulerName":"default-scheduler")"};
  Life life;
  life.waiting = pod.make();
  pod.node_name = "n0";
  life.bound = pod.make();
  return life;
}

api::ObjectPtr gang(const std::string& name, int pods) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default","uid":"group-{}"}},"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}},"status":{{}}}})",
      name, name, pods));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

// Everything comes, is bound, is confirmed and goes.
void live(Plant& plant, const api::ObjectPtr& group, const std::vector<Life>& pods) {
  if (group != nullptr) plant.apply(Event::Type::Added, group);
  for (const Life& pod : pods) plant.apply(Event::Type::Added, pod.waiting);
  plant.run();
  for (const Life& pod : pods) plant.apply(Event::Type::Modified, pod.bound);
  for (const Life& pod : pods) plant.apply(Event::Type::Deleted, pod.bound);
  if (group != nullptr) plant.apply(Event::Type::Deleted, group);
}

}  // namespace

int scheduler_loop(int pods_in_group, int count, const Measure& measure) {
  Plant plant;
  std::vector<api::ObjectPtr> groups;
  std::vector<std::vector<Life>> lives;
  for (int i = 0; i < count; ++i) {
    const std::string name = pods_in_group == 0 ? "" : fmt::format("g{}", i);
    groups.push_back(name.empty() ? nullptr : gang(name, pods_in_group));
    lives.emplace_back();
    for (int p = 0; p < std::max(1, pods_in_group); ++p)
      lives.back().push_back(life_of(fmt::format("p{}-{}", i, p), name));
  }
  const std::size_t warm = lives.size() / 10;
  for (std::size_t i = 0; i < warm; ++i) live(plant, groups[i], lives[i]);
  measure([&] {
    for (std::size_t i = warm; i < lives.size(); ++i) live(plant, groups[i], lives[i]);
  });
  return static_cast<int>(lives.size() - warm);
}

}  // namespace muster::bench
