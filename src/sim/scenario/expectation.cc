#include "sim/scenario/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "api/views/pod_view.h"
#include "sim/scenario/node_line.h"
#include "sim/scenario/observation.h"
#include "sim/scenario/storage_verbs.h"
#include "sim/scenario/subject_checks.h"

namespace muster::sim {
namespace {

using api::ObjectPtr;

using Unmets = std::function<Unmet(const Stage&)>;

Result<Unmets> read_count(Words words, std::string_view what,
                          std::uint64_t (AttemptLog::*count)() const) {
  const Bound bound = TRY(read_bound(words));
  return [=](const Stage& stage) -> Unmet {
    const std::uint64_t seen = (stage.log().*count)();
    if (bound.holds(seen)) return std::nullopt;
    return fmt::format("{} {} in this step", seen, what);
  };
}

// "nobody placed": no attempt of this step gave a pod a node.
Result<Unmets> read_nobody(const Line& line, Words words) {
  if (!words.next_if("placed")) return fail_at(line, "write nobody placed");
  TRY(words.end());
  return [](const Stage& stage) -> Unmet {
    if (stage.log().placements() == 0) return std::nullopt;
    return fmt::format("{} pods were given a node in this step", stage.log().placements());
  };
}

Result<Unmets> read_queue(const Line& line, Words words) {
  std::map<std::string, std::size_t> wanted;
  while (!words.done()) {
    const Setting setting = read_setting(words.next());
    constexpr std::string_view kPlaces[] = {"active", "backoff", "resting", "gated", "incomplete"};
    if (std::ranges::find(kPlaces, setting.name) == std::end(kPlaces))
      return fail_at(line, "`{}` is no place of the queue; there are {}", setting.name,
                     fmt::join(kPlaces, ", "));
    wanted[std::string(setting.name)] =
        static_cast<std::size_t>(TRY(read_number(line, setting.value)));
  }
  return [wanted](const Stage& stage) -> Unmet {
    const scheduler::Scheduler::Numbers numbers = stage.world().scheduler().numbers();
    const std::map<std::string, std::size_t> seen{{"active", numbers.active},
                                                  {"backoff", numbers.backoff},
                                                  {"resting", numbers.unschedulable_now},
                                                  {"gated", numbers.gated},
                                                  {"incomplete", numbers.incomplete}};
    for (const auto& [place, count] : wanted)
      if (seen.at(place) != count) {
        std::vector<std::string> parts;
        for (const auto& [name, number] : seen) parts.push_back(fmt::format("{}={}", name, number));
        return fmt::format("queue {}", fmt::join(parts, " "));
      }
    return std::nullopt;
  };
}

std::vector<ObjectPtr> pods_on(const Stage& stage, const std::string& node) {
  std::vector<ObjectPtr> here;
  for (const ObjectPtr& pod : stage.pods())
    if (Stage::node_of(pod) == node) here.push_back(pod);
  return here;
}

std::string holds_text(const Stage& stage, const std::string& node) {
  std::vector<std::string> names;
  for (const ObjectPtr& pod : pods_on(stage, node)) names.push_back(pod->meta().name);
  return names.empty() ? "it is empty" : fmt::format("it holds {}", fmt::join(names, " "));
}

Result<Unmets> read_uses(const Line& line, Words words, const std::string& node) {
  std::vector<std::pair<std::string, api::Quantity>> wanted;
  while (!words.done()) {
    const Setting setting = read_setting(words.next());
    const std::string resource = resource_name(setting.name);
    const Result<api::Quantity> amount = api::Quantity::parse(setting.value);
    if (resource.empty() || !amount)
      return fail_at(line, "{}={} is no amount of a resource", setting.name, setting.value);
    wanted.emplace_back(resource, *amount);
  }
  return [node, wanted](const Stage& stage) -> Unmet {
    for (const auto& [resource, amount] : wanted) {
      std::int64_t used = 0;
      for (const ObjectPtr& pod : pods_on(stage, node))
        used += pod->view<api::PodView>().needs.requests.of(resource);
      const bool is_cpu = resource == "cpu";
      if (used != (is_cpu ? amount.milli_value() : amount.value()))
        return fmt::format(
            "{} {}; {}", resource,
            (is_cpu ? api::Quantity::of_milli(used) : api::Quantity::of_units(used)).text(),
            holds_text(stage, node));
    }
    return std::nullopt;
  };
}

Result<Unmets> read_holds(Words words, const std::string& node) {
  std::set<std::string> wanted;  // names of objects
  while (!words.done()) {
    std::string name(words.next());
    std::ranges::replace(name, '/', '-');
    wanted.insert(std::move(name));
  }
  return [node, wanted](const Stage& stage) -> Unmet {
    std::set<std::string> here;
    for (const ObjectPtr& pod : pods_on(stage, node)) here.insert(pod->meta().name);
    return here == wanted ? std::nullopt : Unmet(holds_text(stage, node));
  };
}

Result<Unmets> read_node(const Line& line, Words words) {
  const std::string node = TRY(words.need("the name of a node"));
  const std::string word = TRY(words.need("uses, holds or empty"));
  if (word == "uses") return read_uses(line, words, node);
  if (word == "holds" || word == "empty") return read_holds(words, node);
  return fail_at(line, "unknown word `{}` about a node; there are uses, holds and empty", word);
}

}  // namespace

Result<Expectation> read_expectation(const Line& line) {
  if (!line.below.empty())
    return fail_at(line.below.front(), "nothing can be indented under an expectation");
  Expectation made{.line = line.number, .text = line.text, .unmet = {}};
  Words words(line);
  const std::string first(words.next());
  if (first == "attempts")
    made.unmet = TRY(read_count(words, "attempts", &AttemptLog::attempts));
  else if (first == "steps")
    made.unmet = TRY(read_count(words, "search steps", &AttemptLog::search_steps));
  else if (first == "nobody")
    made.unmet = TRY(read_nobody(line, words));
  else if (first == "queue")
    made.unmet = TRY(read_queue(line, words));
  else if (first == "node")
    made.unmet = TRY(read_node(line, words));
  else if (first == "claim")
    made.unmet = TRY(read_claim_expectation(words));
  if (made.unmet) return made;

  const bool has_role = role_of(first).has_value() || first == "pod";
  const std::string role = has_role ? first : std::string();
  const std::string path = has_role ? TRY(words.need("a name")) : first;
  const bool gone = words.peek() == "gone";
  const Check check = gone ? Check(check_gone) : TRY(read_predicate(line, words));
  made.unmet = [role, path, check](const Stage& stage) -> Unmet {
    const Result<Cast::Subject> subject = stage.cast().find(role, path);
    if (!subject) return subject.error().message;
    return check(stage, *subject);
  };
  return made;
}

}  // namespace muster::sim
