#include "workload/leader_worker_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "api/reading.h"
#include "workload/names.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonObject;

const Json& spec_of(const Json& set) { return api::part_of(set, "spec"); }
const Json& scheduling_of(const Json& set) { return api::part_of(spec_of(set), "scheduling"); }
const Json& replica_of(const Json& set) { return api::part_of(scheduling_of(set), "replica"); }
const Json& group_template(const Json& set) {
  return api::part_of(spec_of(set), "leaderWorkerTemplate");
}

std::int32_t replicas_of(const Json& set) {
  return static_cast<std::int32_t>(api::find_integer(spec_of(set), "replicas").value_or(1));
}
std::int32_t size_of(const Json& set) {
  return static_cast<std::int32_t>(api::find_integer(group_template(set), "size").value_or(1));
}

std::int32_t clamped(std::int64_t count) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(count, 1, std::numeric_limits<std::int32_t>::max()));
}

// A level of composite blocks whose group consists of pods.
Config as_leaf(Config config) {
  if (Gang* gang = config.gang()) gang->minimum.reset();
  return config;
}

Item role_item(const Json& set, LwsRole role) {
  const std::string_view member = role_template(role);
  return {.name = std::string(member),
          .defaults = {.policy = Basic{}},
          .user = map_pod_group_config(pod_group_blocks(api::part_of(replica_of(set), member))),
          .callbacks = {default_minimum(role == LwsRole::Leader ? 1 : size_of(set) - 1)},
          .path = fmt::format("spec.scheduling.replica.{}", member)};
}

std::vector<Item> role_items(const Json& set) {
  std::vector<Item> out{role_item(set, LwsRole::Leader)};
  if (size_of(set) > 1) out.push_back(role_item(set, LwsRole::Worker));
  return out;
}

Item replica_item(const Json& set, const LwsLevels& levels) {
  Config user = map_composite_group_config(composite_group_blocks(replica_of(set)));
  const bool alone = levels.count() == 1;
  Item item{.name = std::string(kReplicaTemplate),
            .defaults = {.policy = alone ? Policy(Gang{}) : Policy(Basic{})},
            .user = levels.roles ? user : as_leaf(user),
            .path = "spec.scheduling.replica"};
  if (levels.roles) item.children = role_items(set);
  item.callbacks = {
      default_minimum(levels.roles ? std::ssize(item.children) : std::int64_t{size_of(set)})};
  return item;
}

Item set_item(const Json& set, const LwsLevels& levels) {
  Config user = map_composite_group_config(composite_group_blocks(scheduling_of(set)));
  Item item{.name = std::string(kLwsTemplate),
            .defaults = {.policy = Basic{}},
            .user = levels.composite() ? user : as_leaf(user),
            .callbacks = {default_minimum(lws_set_minimum(set))},
            .path = "spec.scheduling"};
  if (levels.replica)
    item.children = {replica_item(set, levels)};
  else if (levels.roles)
    item.children = role_items(set);
  return item;
}

Owner owner_of(const Json& set) {
  const Json& metadata = api::part_of(set, "metadata");
  return {.api_version = "leaderworkerset.x-k8s.io/v1",
          .kind = "LeaderWorkerSet",
          .name = std::string(api::find_string(metadata, "name")),
          .uid = std::string(api::find_string(metadata, "uid"))};
}

// <workload>[.<incarnation>]-<index>[-<role>]-<revision>, where the Workload is its own. Groups
// from an owner's templates are called the same, so that sets of one owner do not collide.
std::string replica_group_name(const Json& set, const LwsReplica& replica, std::string_view role) {
  return fmt::format("{}{}{}-{}{}{}-{}", lws_workload_name(set),
                     replica.incarnation.empty() ? "" : ".", replica.incarnation, replica.index,
                     role.empty() ? "" : "-", role, replica.revision);
}

std::vector<Owner> owners_of_groups(const Json& set, const Json& workload,
                                    const LwsTemplates& templates) {
  if (templates.is_owners) return {owner_of(set)};
  return {owner_of(set), workload_owner(workload)};
}

void add_labels(const Json& set, const LwsReplica* replica, Json& group) {
  JsonObject& labels =
      api::ensure_object(api::ensure_object(group.as_object(), "metadata"), "labels");
  labels[kLwsName] = api::find_string(api::part_of(set, "metadata"), "name");
  if (replica == nullptr) return;
  labels[kLwsGroupIndex] = std::to_string(replica->index);
  labels[kLwsRevision] = replica->revision;
}

void set_minimum(std::string_view member, std::int32_t minimum, Json& group) {
  JsonObject& spec = api::ensure_object(group.as_object(), "spec");
  JsonObject& policy = api::ensure_object(spec, "schedulingPolicy");
  if (Json* gang = policy.if_contains("gang"); gang != nullptr && gang->is_object())
    gang->get_object()[member] = minimum;
}

}  // namespace

std::string_view role_template(LwsRole role) {
  return role == LwsRole::Leader ? "leader" : "worker";
}

std::int32_t lws_set_minimum(const Json& set) {
  const LwsLevels levels = lws_levels(set);
  const std::int64_t replicas = replicas_of(set);
  if (!levels.composite()) return clamped(replicas * size_of(set));
  const bool two = !levels.replica && size_of(set) > 1;
  return clamped(replicas * (two ? 2 : 1));
}

Result<std::vector<Item>> lws_items(const Json& set) {
  api::FieldErrors errors;
  api::validate_lws_scheduling(set, nullptr, {}, errors);
  if (!errors.empty()) return fail(Reason::Invalid, "{}", errors.text());
  const LwsLevels levels = lws_levels(set);
  std::vector<Item> items;
  if (levels.set)
    items.push_back(set_item(set, levels));
  else if (levels.replica)
    items.push_back(replica_item(set, levels));
  else if (levels.roles)
    items = role_items(set);
  const std::string priority(
      api::find_string(api::part_of(api::part_of(group_template(set), "workerTemplate"), "spec"),
                       "priorityClassName"));
  const auto give = [&](const auto& self, Item& item) -> void {
    item.defaults.priority_class = priority;
    for (Item& child : item.children) self(self, child);
  };
  for (Item& item : items) give(give, item);
  return items;
}

std::string lws_workload_name(const Json& set) {
  const Owner owner = owner_of(set);
  return workload_name(owner.name, owner.uid);
}

Result<Json> lws_workload(const Json& set, const api::Gates& gates) {
  const std::vector<Item> items = TRY(lws_items(set));
  api::StringPairs annotations;
  const Json& metadata = api::part_of(set, "metadata");
  for (const auto& annotation : api::members(metadata, "annotations"))
    annotations.emplace_back(api::key_of(annotation), api::text_of(annotation.value()));
  std::ranges::sort(annotations);
  return build(items, {.name = lws_workload_name(set),
                       .name_space = std::string(api::find_string(metadata, "namespace")),
                       .owner = owner_of(set),
                       .allowed = {.policies = {PolicyKind::Basic, PolicyKind::Gang},
                                   .disruption_modes = {Disruption::Single, Disruption::All},
                                   .basic_disrupted_together = true},
                       .annotations = std::move(annotations),
                       .gates = gates});
}

LwsTemplates lws_templates(const Json& set) { return {.levels = lws_levels(set)}; }

std::string lws_set_group_name(const Json& set) {
  return fmt::format("{}-{}", lws_workload_name(set), kLwsTemplate);
}

std::string lws_pod_group(const Json& set, const LwsLevels& levels, const LwsReplica& replica,
                          LwsRole role) {
  if (levels.roles) return replica_group_name(set, replica, role_template(role));
  if (levels.replica) return replica_group_name(set, replica, "");
  return lws_set_group_name(set);
}

std::vector<LwsGroupName> lws_replica_group_names(const Json& set, const LwsLevels& levels,
                                                  const LwsReplica& replica, std::int32_t size) {
  std::vector<LwsGroupName> out;
  if (levels.replica)
    out.push_back({levels.roles ? &api::kinds::composite_pod_group() : &api::kinds::pod_group(),
                   replica_group_name(set, replica, "")});
  for (const LwsRole role : {LwsRole::Leader, LwsRole::Worker})
    if (levels.roles && (role == LwsRole::Leader || size >= 2))
      out.push_back(
          {&api::kinds::pod_group(), replica_group_name(set, replica, role_template(role))});
  return out;
}

Result<std::vector<StampedGroup>> lws_replica_groups(const Json& set, const Json& workload,
                                                     const LwsTemplates& templates,
                                                     const LwsReplica& replica, std::int32_t size) {
  return lws_replica_groups(set, workload, Stamper(workload), templates, replica, size);
}

Result<std::vector<StampedGroup>> lws_replica_groups(const Json& set, const Json& workload,
                                                     const Stamper& stamper,
                                                     const LwsTemplates& templates,
                                                     const LwsReplica& replica, std::int32_t size) {
  const LwsLevels& levels = templates.levels;
  const std::vector<Owner> owners = owners_of_groups(set, workload, templates);
  std::vector<StampedGroup> out;
  std::string parent =
      levels.set && levels.composite() ? lws_set_group_name(set) : templates.parent;
  const auto add = [&](const api::Kind& kind, Json document, std::int32_t minimum) {
    const bool composite = &kind == &api::kinds::composite_pod_group();
    if (!templates.is_owners)
      set_minimum(composite ? "minGroupCount" : "minCount", minimum, document);
    add_labels(set, &replica, document);
    out.push_back({&kind, std::move(document)});
  };
  if (levels.replica) {
    Stamper::Group group{.name = replica_group_name(set, replica, ""),
                         .template_name = templates.replica,
                         .parent = parent,
                         .owners = owners};
    parent = group.name;
    if (levels.roles)
      add(api::kinds::composite_pod_group(), TRY(stamper.composite(group)), size > 1 ? 2 : 1);
    else
      add(api::kinds::pod_group(), TRY(stamper.pod_group(group)), size);
  }
  for (const LwsRole role : {LwsRole::Leader, LwsRole::Worker}) {
    if (!levels.roles || (role == LwsRole::Worker && size < 2)) continue;
    const bool leads = role == LwsRole::Leader;
    Json document =
        TRY(stamper.pod_group({.name = replica_group_name(set, replica, role_template(role)),
                               .template_name = leads ? templates.leader : templates.worker,
                               .parent = parent,
                               .owners = owners}));
    add(api::kinds::pod_group(), std::move(document), leads ? 1 : size - 1);
  }
  return out;
}

Result<std::optional<StampedGroup>> lws_set_group(const Json& set, const Json& workload,
                                                  const LwsTemplates& templates) {
  const LwsLevels& levels = templates.levels;
  if (!levels.set || replicas_of(set) == 0) return std::optional<StampedGroup>();
  const Stamper stamper(workload);
  const Stamper::Group group{.name = lws_set_group_name(set),
                             .template_name = templates.set,
                             .parent = templates.parent,
                             .owners = owners_of_groups(set, workload, templates)};
  Json document = TRY(levels.composite() ? stamper.composite(group) : stamper.pod_group(group));
  if (!templates.is_owners)
    set_minimum(levels.composite() ? "minGroupCount" : "minCount", lws_set_minimum(set), document);
  add_labels(set, nullptr, document);
  return std::optional<StampedGroup>(
      {levels.composite() ? &api::kinds::composite_pod_group() : &api::kinds::pod_group(),
       std::move(document)});
}

}  // namespace muster::workload
