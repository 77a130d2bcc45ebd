#include "workload/lws_delegation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/reading.h"
#include "workload/stamper.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonObject;

constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";

template <typename... Args>
auto refuse(fmt::format_string<Args...> text, Args&&... args) {
  return fail(Reason::Invalid, "{}", fmt::format(text, std::forward<Args>(args)...));
}

const Json& scheduling_of(const Json& set) {
  return api::part_of(api::part_of(set, "spec"), "scheduling");
}

bool says_anything(const Json& scheduling) {
  return scheduling.is_object() &&
         std::ranges::any_of(scheduling.get_object(), [](const auto& member) {
           return member.key() == "replica" ? says_anything(member.value())
                                            : !member.value().is_null();
         });
}

// A policy without the minimum: that follows the size of the set.
Json without_minimum(Json value) {
  if (value.is_object())
    if (Json* gang = value.get_object().if_contains("gang"); gang != nullptr && gang->is_object())
      for (const std::string_view minimum : {"minCount", "minGroupCount"})
        gang->get_object().erase(minimum);
  return value;
}

class Reader {
 public:
  Reader(const Json& set, const Delegation& delegation, const Json& workload)
      : set_(set), delegation_(delegation), workload_(workload), stamper_(workload) {}

  Result<LwsTemplates> read() {
    const Stamper::Template* top = stamper_.find(top_name());
    if (top == nullptr)
      return refuse("Workload {} has no template \"{}\"; it has {}", workload_name(),
                    delegation_.template_name, fmt::join(stamper_.templates(), ", "));
    if (top->parent.empty() != delegation_.parent_composite.empty())
      return top->parent.empty()
                 ? refuse(
                       "annotation {} names {}, but template \"{}\" of Workload {} is at the top",
                       kParentCompositeAnnotation, delegation_.parent_composite, top_name(),
                       workload_name())
                 : refuse(
                       "template \"{}\" of Workload {} is part of \"{}\": annotation {} must "
                       "name the group of that template",
                       top_name(), workload_name(), top->parent, kParentCompositeAnnotation);
    LwsTemplates out = TRY(choose(*top));
    out.is_owners = true;
    out.parent = delegation_.parent_composite;
    TRY(compare(out));
    TRY(check(out));
    return out;
  }

 private:
  std::string workload_name() const {
    return std::string(api::find_string(api::part_of(workload_, "metadata"), "name"));
  }

  std::string top_name() const {
    if (!delegation_.template_name.empty()) return delegation_.template_name;
    const auto leaf = std::ranges::find_if(stamper_.templates(), [&](std::string_view name) {
      return !stamper_.find(name)->composite;
    });
    return leaf == stamper_.templates().end() ? std::string() : std::string(*leaf);
  }

  std::vector<std::string> below(std::string_view parent, bool composite) const {
    std::vector<std::string> out;
    for (const std::string_view name : stamper_.templates())
      if (const auto* each = stamper_.find(name);
          each->parent == parent && each->composite == composite)
        out.emplace_back(name);
    return out;
  }

  // The shapes that the templates can be, the usual one first.
  std::vector<LwsTemplates> shapes(const Stamper::Template& top) const {
    const std::string name = top_name();
    if (!top.composite)
      return {{.levels = {.replica = true}, .replica = name},
              {.levels = {.set = true}, .set = name}};
    const std::vector<std::string> leaves = below(name, false);
    const std::vector<std::string> composites = below(name, true);
    if (composites.empty() && leaves.size() == 1)
      return {{.levels = {.set = true, .replica = true}, .set = name, .replica = leaves[0]}};
    if (composites.empty() && leaves.size() == 2)
      return {{.levels = {.set = true, .roles = true},
               .set = name,
               .leader = leaves[0],
               .worker = leaves[1]},
              {.levels = {.replica = true, .roles = true},
               .replica = name,
               .leader = leaves[0],
               .worker = leaves[1]}};
    if (composites.size() != 1 || !leaves.empty()) return {};
    const std::vector<std::string> roles = below(composites[0], false);
    if (roles.size() != 2 || !below(composites[0], true).empty()) return {};
    return {{.levels = {.set = true, .replica = true, .roles = true},
             .set = name,
             .replica = composites[0],
             .leader = roles[0],
             .worker = roles[1]}};
  }

  Result<LwsTemplates> choose(const Stamper::Template& top) const {
    const std::vector<LwsTemplates> fitting = shapes(top);
    if (fitting.empty())
      return refuse(
          "template \"{}\" of Workload {} is no tree that a LeaderWorkerSet can have: the "
          "set, its replicas, their leader and workers",
          top_name(), workload_name());
    if (!says_anything(scheduling_of(set_))) return fitting.front();
    const auto said = std::ranges::find(fitting, lws_levels(set_), &LwsTemplates::levels);
    if (said == fitting.end())
      return refuse(
          "spec.scheduling names other levels than template \"{}\" of Workload {}, "
          "which decides: leave spec.scheduling out",
          top_name(), workload_name());
    return *said;
  }

  struct Block {
    const Json& said;
    std::string_view path;
    const std::string& from;  // template
  };
  std::vector<Block> blocks(const LwsTemplates& of) const {
    const Json& scheduling = scheduling_of(set_);
    const Json& replica = api::part_of(scheduling, "replica");
    std::vector<Block> out;
    if (of.levels.set) out.push_back({scheduling, "spec.scheduling", of.set});
    if (of.levels.replica) out.push_back({replica, "spec.scheduling.replica", of.replica});
    if (!of.levels.roles) return out;
    out.push_back({api::part_of(replica, "leader"), "spec.scheduling.replica.leader", of.leader});
    out.push_back({api::part_of(replica, "worker"), "spec.scheduling.replica.worker", of.worker});
    return out;
  }

  // Two that decide about the same pods must not differ.
  Result<void> compare(const LwsTemplates& of) const {
    for (const Block& block : blocks(of))
      for (const std::string_view member :
           {"schedulingPolicy", "schedulingConstraints", "disruptionMode", "resourceClaims"}) {
        const Json* said = api::find_set(block.said, member);
        if (said == nullptr) continue;
        const Json& decided = api::part_of(*stamper_.find(block.from)->document, member);
        if (without_minimum(*said) != without_minimum(decided))
          return refuse(
              "{}.{} is {}, and template \"{}\" of Workload {}, which {} {} has made, says "
              "{}: only one of them can decide, so leave it out here",
              block.path, member, api::to_text(*said), block.from, workload_name(),
              delegation_.owner.kind, delegation_.owner.name,
              decided.is_null() ? "nothing" : api::to_text(decided));
      }
    return {};
  }

  bool is_gang(const std::string& name) const { return gang_of(name) != nullptr; }
  const Json* gang_of(const std::string& name) const {
    return api::find_set(api::part_of(*stamper_.find(name)->document, "schedulingPolicy"), "gang");
  }
  bool is_bound_to_a_place(const std::string& name) const {
    return !api::elements(api::part_of(*stamper_.find(name)->document, "schedulingConstraints"),
                          "topology")
                .empty();
  }

  // What the server would refuse in spec.scheduling.
  Result<void> check(const LwsTemplates& of) const {
    const Json& spec = api::part_of(set_, "spec");
    const Json& pods = api::part_of(spec, "leaderWorkerTemplate");
    const std::int64_t size = api::find_integer(pods, "size").value_or(1);
    if (of.levels.roles && size < 2)
      return refuse(
          "templates \"{}\" and \"{}\" of Workload {} tell leaders from workers: "
          "spec.leaderWorkerTemplate.size must be at least 2",
          of.leader, of.worker, workload_name());
    const bool mixed =
        (of.levels.set && is_gang(of.set)) || (of.levels.replica && is_gang(of.replica));
    if (mixed && size > 1 && api::find_string(spec, "startupPolicy") == "LeaderReady")
      return refuse(
          "spec.startupPolicy LeaderReady makes workers wait for their leader, and the "
          "gang of template \"{}\" makes the leader wait for its workers",
          of.levels.set && is_gang(of.set) ? of.set : of.replica);
    const Json& metadata = api::part_of(set_, "metadata");
    const bool is_exclusive =
        !api::find_string(api::part_of(metadata, "annotations"), kExclusive).empty();
    for (const Block& block : blocks(of))
      if (is_exclusive && (is_gang(block.from) || is_bound_to_a_place(block.from)))
        return refuse(
            "annotation {} places pods one after the other, and template \"{}\" of "
            "Workload {} together",
            kExclusive, block.from, workload_name());
    TRY(check_size(of, size));
    return check_priority(of, pods);
  }

  // A gang of a replica that needs more pods than there are would wait forever.
  Result<void> check_size(const LwsTemplates& of, std::int64_t size) const {
    const auto holds = [&](const std::string& name, std::int64_t members) -> Result<void> {
      const Json* gang = gang_of(name);
      const std::int64_t minimum =
          gang == nullptr ? 1 : api::find_integer(*gang, "minCount").value_or(1);
      if (minimum <= members) return {};
      return refuse("the gang of template \"{}\" of Workload {} needs {} pods, and there are {}",
                    name, workload_name(), minimum, members);
    };
    if (of.levels.roles) {
      TRY(holds(of.leader, 1));
      return holds(of.worker, size - 1);
    }
    return of.levels.replica ? holds(of.replica, size) : Result<void>();
  }

  Result<void> check_priority(const LwsTemplates& of, const Json& pods) const {
    for (const std::string_view member : {"workerTemplate", "leaderTemplate"}) {
      const Json* pod = api::find_set(pods, member);
      if (pod == nullptr) continue;
      const std::string_view has =
          api::find_string(api::part_of(*pod, "spec"), "priorityClassName");
      for (const Block& block : blocks(of))
        if (const std::string_view wanted =
                api::find_string(*stamper_.find(block.from)->document, "priorityClassName");
            has != wanted)
          return refuse(
              "spec.leaderWorkerTemplate.{}.spec.priorityClassName is \"{}\", and template "
              "\"{}\" of Workload {} has \"{}\": what is scheduled as one workload has one "
              "priority",
              member, has, block.from, workload_name(), wanted);
    }
    return {};
  }

  const Json& set_;
  const Delegation& delegation_;
  const Json& workload_;
  const Stamper stamper_;
};

}  // namespace

Result<LwsTemplates> delegated_lws_templates(const Json& set, const Delegation& delegation,
                                             const Json& workload) {
  return Reader(set, delegation, workload).read();
}

}  // namespace muster::workload
