#include "controllers/statefulset/stateful_set_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "controllers/common/adoption.h"
#include "controllers/common/memory.h"
#include "controllers/common/revisions.h"

namespace muster::controllers {
namespace {

using api::ObjectPtr;
using api::StatefulSetView;

// What pods do is collected for a moment, so that a large set costs few looks.
constexpr Duration kBatchPeriod = std::chrono::milliseconds{50};

bool is_set(const api::OwnerReference& owner) {
  return owner.kind == "StatefulSet" && owner.api_version.starts_with("apps/");
}

bool selects(const api::Object& set, const api::Object& object) {
  const auto& selector = set.view<StatefulSetView>().selector;
  return selector && selector->matches(object.meta().labels);
}

}  // namespace

StatefulSetController::StatefulSetController(client::ComponentContext context)
    : WritingController("statefulset", std::move(context), watches(*this)),
      pods_({.owners = true, .own = index_free}),
      revisions_({.owners = true, .own = index_free}) {}

std::vector<StatefulSetController::Watch> StatefulSetController::watches(
    StatefulSetController& self) {
  return {{.kind = &stateful_set_kind(),
           .mirror = &self.sets_,
           .keys_of = [&self](const Change& change) { return self.showed_itself(change); }},
          {.kind = &api::kinds::pod(),
           .mirror = &self.pods_,
           .keys_of = [&self](const Change& change) { return self.on_pod(change); }},
          {.kind = &controller_revision_kind(),
           .mirror = &self.revisions_,
           .keys_of = [&self](const Change& change) { return self.on_revision(change); }},
          {.kind = &claim_kind(),
           .mirror = &self.volume_claims_,
           .keys_of = [&self](const Change& change) { return self.on_volume_claim(change); }}};
}

// Rosters follow the pods whether their set is known yet or not.
StatefulSetController::Keys StatefulSetController::on_pod(const Change& change) {
  for (const bool is_new : {false, true}) {
    const ObjectPtr& version = is_new ? change.after : change.before;
    if (version == nullptr) continue;
    const api::OwnerReference* owner = controller_of(*version);
    if (owner == nullptr || !is_set(*owner)) continue;
    const std::string key = version->meta().name_space + "/" + owner->name;
    if (const auto ordinal = ordinal_of(version->meta().name, owner->name)) {
      if (is_new) {
        rosters_[owner->uid].put(version, *ordinal);
      } else if (const auto at = rosters_.find(owner->uid); at != rosters_.end()) {
        // What stays is replaced by the new version.
        const bool stays = change.after != nullptr && is_controlled_by(*change.after, owner->uid);
        if (!stays) at->second.remove(*version, *ordinal);
        if (at->second.empty()) rosters_.erase(at);
      }
    }
    showed(key, change);
    work().add_at(change.at + kBatchPeriod, key);
    if (const ObjectPtr set = controller_in(sets_, *version);
        set != nullptr && !selects(*set, *version))
      recall(memory_, key, *set).claims_pods = true;
  }
  if (change.after == nullptr || controller_of(*change.after) != nullptr ||
      change.after->meta().deletion_time)
    return {};
  // A set adopts pods of its own names alone.
  const std::string& name = change.after->meta().name;
  const ObjectPtr set = sets_.find(change.after->meta().name_space,
                                   name.substr(0, std::min(name.rfind('-'), name.size())));
  if (set == nullptr || !selects(*set, *change.after)) return {};
  std::string key = api::key_text(set->meta());
  recall(memory_, key, *set).claims_pods = true;
  return {std::move(key)};
}

StatefulSetController::Keys StatefulSetController::on_revision(const Change& change) {
  const ObjectPtr set = controller_in(sets_, change.newest());
  if (set == nullptr) return {};
  std::string key = api::key_text(set->meta());
  showed(key, change);
  return {std::move(key)};
}

// <template>-<set>-<ordinal>, of which each part may have dashes of its own.
StatefulSetController::Keys StatefulSetController::on_volume_claim(const Change& change) {
  const api::ObjectMeta& meta = change.newest().meta();
  const std::string_view name = meta.name;
  const std::size_t last = name.rfind('-');
  if (last == std::string_view::npos) return {};
  Keys keys;
  for (std::size_t dash = name.find('-'); dash < last; dash = name.find('-', dash + 1)) {
    const std::string_view set_name = name.substr(dash + 1, last - dash - 1);
    const auto ordinal = ordinal_of(name.substr(dash + 1), set_name);
    const ObjectPtr set = ordinal ? sets_.find(meta.name_space, set_name) : nullptr;
    if (set == nullptr) continue;
    const auto& templates = set->view<StatefulSetView>().claim_templates;
    if (std::ranges::find(templates, name.substr(0, dash)) == templates.end()) continue;
    keys.push_back(api::key_text(set->meta()));
    showed(keys.back(), change);
    if (change.after == nullptr) recall(memory_, keys.back(), *set).lost_claims.insert(*ordinal);
  }
  return keys;
}

void StatefulSetController::reconcile(const std::string& key, Time now) {
  begin_look(key);
  const auto [name_space, name] = client::split_key(key);
  const ObjectPtr set = sets_.find(name_space, name);
  if (set == nullptr) {
    memory_.erase(key);
    forget_writes(key);
    return;
  }
  if (waits(key, now)) return;
  const auto& view = set->view<StatefulSetView>();
  if (set->meta().deletion_time || !view.selector) return;
  Memory& memory = recall(memory_, key, *set);
  Roster none;
  const auto roster = rosters_.find(set->meta().uid);
  const Look look{.key = key,
                  .set = set,
                  .view = view,
                  .memory = memory,
                  .roster = roster == rosters_.end() ? none : roster->second,
                  .now = now};
  // A step of a rollout leaves it as it was: it must not cost all pods of the set.
  if (const ClaimScope scope{view.replicas, view.first_ordinal, view.claims_go_with_set};
      memory.claim_scope != scope) {
    memory.claim_scope = scope;
    memory.owns_claims = true;
  }
  if (claim(look)) return;
  const ObjectPtr update = update_revision(look);
  if (update == nullptr) return;

  look.roster.arrange(view.first_ordinal, view.replicas, std::chrono::seconds{view.min_ready_s});
  look.roster.advance(now);
  if (const auto next = look.roster.next_available()) work().add_at(*next, key);
  const ObjectPtr known = revisions_.find(name_space, view.status.current_revision);
  const bool has_current = known != nullptr && is_controlled_by(*known, set->meta().uid);
  const std::string& update_name = update->meta().name;
  const std::string current = has_current ? view.status.current_revision : update_name;
  const StatefulState state{.set = view, .roster = look.roster, .update_revision = update_name};
  carry_out(look, plan_stateful(state), current, update_name);
  look_after_claims(look);
  for (const std::int32_t ordinal : look.roster.misnamed() | std::views::take(kSetChangesMax))
    write_call(key, name_pod_request(*look.roster.find(ordinal)->object, ordinal));

  const StatefulSetView::Status status =
      stateful_status(state, set->meta().generation,
                      {.current = current, .update = update_name, .collisions = memory.collisions});
  if (status != view.status) write_call(key, stateful_status_request(*set, status));
  trim_history(look, status.current_revision, update_name);
}

bool StatefulSetController::claim(const Look& look) {
  if (!std::exchange(look.memory.claims_pods, false)) return false;
  const Claim pods = find_claim(pods_, *look.set, *look.view.selector);
  bool called = false;
  for (const ObjectPtr& pod : pods.release | std::views::take(kSetChangesMax)) {
    write_call(look.key, release_request(*pod, *look.set));
    called = true;
  }
  std::size_t adopted = 0;
  for (const ObjectPtr& pod : pods.adopt) {
    if (!ordinal_of(pod->meta().name, look.set->meta().name)) continue;
    if (++adopted > kSetChangesMax) break;  // the next look goes on
    write_call(look.key, adopt_request(*pod, *look.set));
    called = true;
  }
  for (const ObjectPtr& revision : find_claim(revisions_, *look.set, *look.view.selector).adopt) {
    write_call(look.key, adopt_request(*revision, *look.set));
    called = true;
  }
  // If one of them fails there is something left to do.
  look.memory.claims_pods = called;
  return called;
}

ObjectPtr StatefulSetController::update_revision(const Look& look) {
  Memory& memory = look.memory;
  if (memory.generation != look.set->meta().generation) {
    const api::Json document = look.set->document();
    memory.data = template_patch(api::part_of(api::part_of(document, "spec"), "template"));
    memory.data_text = api::sorted_text(memory.data);
    memory.generation = look.set->meta().generation;
  }
  const api::Json& pod_template = api::part_of(api::part_of(memory.data, "spec"), "template");
  NewestRevision newest =
      newest_revision({.owner = *look.set,
                       .data = memory.data,
                       .data_text = memory.data_text,
                       .labels = api::members(api::part_of(pod_template, "metadata"), "labels"),
                       .collisions = look.view.status.collisions.value_or(0)},
                      revisions_of(*look.set, revisions_), revisions_);
  memory.collisions = newest.collisions;
  if (!newest.request) return newest.found;
  write_call(look.key, *std::move(newest.request));
  return nullptr;
}

void StatefulSetController::trim_history(const Look& look, const std::string& current,
                                         const std::string& update) {
  const std::vector<ObjectPtr> revisions = revisions_of(*look.set, revisions_);
  const auto is_live = [&](const std::string& name) {
    return name == current || name == update || !look.roster.of_revision(name).empty();
  };
  for (const ObjectPtr& revision : surplus_revisions(revisions, look.view.history_limit, is_live))
    write_call(look.key, client::delete_request(*revision, std::nullopt));
}

}  // namespace muster::controllers
