// How the book finds out what a pod's volumes ask of nodes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "scheduler/volumes/volume_book.h"

namespace muster::scheduler {
namespace {

using api::ClaimView;
using api::ObjectPtr;
using api::StorageClassView;
using api::VolumeView;

constexpr std::array<std::string_view, 4> kZoneLabels = {
    "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone"};

// Builds the text of needs: equal texts come from equal parts only.
class Text {
 public:
  Text& add(std::string_view part) {
    fmt::format_to(std::back_inserter(text_), "{}:{};", part.size(), part);
    return *this;
  }
  Text& add(std::int64_t number) {
    fmt::format_to(std::back_inserter(text_), "{};", number);
    return *this;
  }
  Text& add(const std::vector<std::string>& parts) {
    add(static_cast<std::int64_t>(parts.size()));
    for (const std::string& part : parts) add(std::string_view(part));
    return *this;
  }
  Text& add(const std::vector<api::NodeSelectorTerm>& terms) {
    add(static_cast<std::int64_t>(terms.size()));
    for (const api::NodeSelectorTerm& term : terms)
      for (const auto* requirements : {&term.expressions, &term.fields}) {
        add(static_cast<std::int64_t>(requirements->size()));
        for (const api::NodeRequirement& requirement : *requirements)
          add(requirement.key)
              .add(static_cast<std::int64_t>(requirement.op))
              .add(requirement.values);
      }
    return *this;
  }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

// "a__b" names two zones. Empty if one of them has no name: then the label says nothing.
std::vector<std::string> zones_in(std::string_view value) {
  std::vector<std::string> zones;
  while (true) {
    const std::size_t end = value.find("__");
    if (end == 0 || value.empty()) return {};
    zones.emplace_back(value.substr(0, end));
    if (end == std::string_view::npos) break;
    value.remove_prefix(end + 2);
  }
  std::ranges::sort(zones);
  return zones;
}

std::string not_found(std::string_view claim) {
  return fmt::format("persistentvolumeclaim \"{}\" not found", claim);
}

template <typename T>
void sort_distinct(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

bool is_owned_by(const api::Object& claim, const api::Object& pod) {
  return std::ranges::any_of(claim.meta().owners, [&](const api::OwnerReference& owner) {
    return owner.controller && owner.uid == pod.meta().uid;
  });
}

void set_once(std::string& refusal, std::string reason) {
  if (refusal.empty()) refusal = std::move(reason);
}

}  // namespace

// Reads the claims of one pod.
class NeedsResolver {
 public:
  NeedsResolver(const VolumeBook& book, const api::Object& pod)
      : book_(book), pod_(pod), view_(pod.view<api::PodView>()) {}

  std::shared_ptr<const VolumeNeeds> resolve(std::vector<ObjectPtr>* claims) {
    std::vector<std::string> seen;
    for (const api::PodClaim& claim : view_.claims) {
      std::string name = api::claim_name(pod_, claim);
      if (std::ranges::find(seen, name) != seen.end()) continue;
      read(claim, name);
      seen.push_back(std::move(name));
    }
    if (has_immediate_)
      set_once(needs_.binding_refusal, "pod has unbound immediate PersistentVolumeClaims");
    sort_delayed(claims);
    read_attachments();
    sort_distinct(needs_.affinities);
    sort_distinct(needs_.zones);
    sort_distinct(needs_.exclusive);
    collect_keys();
    write_text();
    return std::make_shared<const VolumeNeeds>(std::move(needs_));
  }

 private:
  void read(const api::PodClaim& used, const std::string& name) {
    const std::string& name_space = pod_.meta().name_space;
    const ObjectPtr claim = book_.claim(name_space, name);
    if (claim == nullptr) return read_missing(used, name);
    const auto& view = claim->view<ClaimView>();
    read_for_binding(used, claim, view);
    if (!used.ephemeral) read_zone(view);
    if (view.is_exclusive && !used.ephemeral && book_.is_shared(claim_key(name_space, name)))
      needs_.exclusive.push_back(claim_key(name_space, name));
  }

  void read_missing(const api::PodClaim& used, const std::string& name) {
    set_once(needs_.limits_refusal, fmt::format("looking up PVC {}/{}: {}", pod_.meta().name_space,
                                                name, not_found(name)));
    if (used.ephemeral)
      return set_once(needs_.binding_refusal,
                      fmt::format("waiting for ephemeral volume controller to create the "
                                  "persistentvolumeclaim \"{}\"",
                                  name));
    set_once(needs_.restrictions_refusal, not_found(name));
    set_once(needs_.binding_refusal, not_found(name));
    set_once(needs_.zone_refusal, not_found(name));
  }

  void read_for_binding(const api::PodClaim& used, const ObjectPtr& claim, const ClaimView& view) {
    const api::ObjectMeta& meta = claim->meta();
    std::string refusal;
    if (view.phase == "Lost")
      refusal =
          fmt::format(R"(persistentvolumeclaim "{}" bound to non-existent persistentvolume "{}")",
                      meta.name, view.volume_name);
    else if (meta.deletion_time)
      refusal = fmt::format("persistentvolumeclaim \"{}\" is being deleted", meta.name);
    else if (used.ephemeral && !is_owned_by(*claim, pod_))
      refusal = fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)",
                            meta.name_space, meta.name, pod_.meta().name_space, pod_.meta().name);
    if (!refusal.empty()) return set_once(needs_.binding_refusal, std::move(refusal));
    if (view.is_bound()) return read_bound(view);
    const ObjectPtr storage_class = book_.storage_class(view.storage_class.value_or(""));
    if (view.volume_name.empty() && storage_class != nullptr) {
      const auto& class_view = storage_class->view<StorageClassView>();
      if (class_view.binding_mode.empty())
        return set_once(needs_.binding_refusal,
                        fmt::format("VolumeBindingMode not set for StorageClass \"{}\"",
                                    storage_class->meta().name));
      if (class_view.waits_for_consumer()) {
        delayed_claims_.push_back(claim);
        return;
      }
    }
    has_immediate_ = true;
  }

  void read_bound(const ClaimView& view) {
    const ObjectPtr volume = book_.volume(view.volume_name);
    if (volume == nullptr)
      needs_.lost_volume = true;
    else if (volume->view<VolumeView>().has_affinity)
      needs_.affinities.push_back(volume->view<VolumeView>().affinity);
  }

  void read_zone(const ClaimView& view) {
    if (!view.volume_name.empty()) {
      const ObjectPtr volume = book_.volume(view.volume_name);
      if (volume == nullptr)
        return set_once(needs_.zone_refusal,
                        fmt::format("persistentvolume \"{}\" not found", view.volume_name));
      for (const std::string_view key : kZoneLabels)
        if (const std::string* value = api::lookup(volume->meta().labels, key))
          if (std::vector<std::string> zones = zones_in(*value); !zones.empty())
            needs_.zones.push_back({std::string(key), std::move(zones)});
      return;
    }
    const std::string class_name = view.storage_class.value_or("");
    if (class_name.empty())
      return set_once(needs_.zone_refusal,
                      "PersistentVolumeClaim had no pv name and storageClass name");
    const ObjectPtr storage_class = book_.storage_class(class_name);
    if (storage_class == nullptr)
      return set_once(needs_.zone_refusal,
                      fmt::format("storageclass.storage.k8s.io \"{}\" not found", class_name));
    const auto& class_view = storage_class->view<StorageClassView>();
    if (class_view.binding_mode.empty())
      set_once(needs_.zone_refusal,
               fmt::format("VolumeBindingMode not set for StorageClass \"{}\"", class_name));
    else if (!class_view.waits_for_consumer())
      set_once(needs_.zone_refusal, "PersistentVolume had no name");
  }

  void sort_delayed(std::vector<ObjectPtr>* claims) {
    std::vector<std::pair<ObjectPtr, DelayedClaim>> delayed;
    for (const ObjectPtr& claim : delayed_claims_) delayed.emplace_back(claim, book_.delay(claim));
    // Those whose volume is being made are judged first, in the order of the pod; the others take
    // the smallest that fits, the smallest claim first.
    std::ranges::stable_sort(delayed, {}, [](const auto& each) {
      const DelayedClaim& claim = each.second;
      const bool is_made = !claim.selected_node.empty() && claim.reserved.volume == nullptr;
      return is_made ? -1 : claim.request;
    });
    delayed_claims_.clear();
    for (auto& [claim, needs] : delayed) {
      delayed_claims_.push_back(std::move(claim));
      needs_.delayed.push_back(std::move(needs));
    }
    if (claims != nullptr) *claims = delayed_claims_;
  }

  void read_attachments() {
    for (const VolumeBook::PodAttachment& attachment : book_.attachments(pod_)) {
      auto at =
          std::ranges::find(needs_.attached, attachment.driver, &VolumeNeeds::Attached::driver);
      if (at == needs_.attached.end()) {
        at = needs_.attached.emplace(at);
        at->driver = attachment.driver;
        const ObjectPtr driver = book_.csi_driver(attachment.driver);
        at->required_on_node =
            driver != nullptr && driver->view<api::CsiDriverView>().required_on_node;
      }
      if (attachment.is_own)
        ++at->own;
      else
        at->handles.push_back(attachment.handle);
    }
    for (VolumeNeeds::Attached& attached : needs_.attached) sort_distinct(attached.handles);
    std::ranges::sort(needs_.attached);
  }

  void collect_keys() {
    const auto add_terms = [this](const std::vector<api::NodeSelectorTerm>& terms) {
      for (const api::NodeSelectorTerm& term : terms)
        for (const api::NodeRequirement& requirement : term.expressions)
          needs_.label_keys.push_back(requirement.key);
    };
    for (const auto& terms : needs_.affinities) add_terms(terms);
    if (!needs_.zones.empty())
      for (const std::string_view key : kZoneLabels) needs_.label_keys.emplace_back(key);
    for (const DelayedClaim& claim : needs_.delayed) {
      if (claim.reserved.view != nullptr) add_terms(claim.reserved.view->affinity);
      for (const VolumeCandidate& candidate : *claim.candidates)
        add_terms(candidate.view->affinity);
    }
    sort_distinct(needs_.label_keys);
  }

  void write_text() {
    Text text;
    text.add(needs_.restrictions_refusal)
        .add(needs_.limits_refusal)
        .add(needs_.binding_refusal)
        .add(needs_.zone_refusal)
        .add(std::int64_t{needs_.lost_volume});
    text.add(static_cast<std::int64_t>(needs_.affinities.size()));
    for (const auto& terms : needs_.affinities) text.add(terms);
    text.add(static_cast<std::int64_t>(needs_.zones.size()));
    for (const VolumeNeeds::Zone& zone : needs_.zones) text.add(zone.key).add(zone.values);
    text.add(static_cast<std::int64_t>(needs_.attached.size()));
    for (const VolumeNeeds::Attached& attached : needs_.attached)
      text.add(attached.driver)
          .add(attached.own)
          .add(attached.handles)
          .add(std::int64_t{attached.required_on_node});
    text.add(needs_.exclusive);
    for (std::size_t i = 0; i < needs_.delayed.size(); ++i)
      write_delayed(needs_.delayed[i], delayed_claims_[i], text);
    needs_.text = std::move(text.text());
  }

  void write_delayed(const DelayedClaim& claim, const ObjectPtr& object, Text& text) const {
    text.add(claim.key).add(claim.class_name).add(book_.state_of(object)).add(claim.selected_node);
    text.add(std::int64_t{claim.reserved.volume != nullptr});
    if (claim.reserved.view != nullptr)
      text.add(std::int64_t{claim.reserved.view->has_affinity}).add(claim.reserved.view->affinity);
  }

  const VolumeBook& book_;
  const api::Object& pod_;
  const api::PodView& view_;
  VolumeNeeds needs_;
  std::vector<ObjectPtr> delayed_claims_;
  bool has_immediate_ = false;
};

std::shared_ptr<const VolumeNeeds> VolumeBook::resolve(const api::Object& pod,
                                                       std::vector<ObjectPtr>* claims) const {
  return NeedsResolver(*this, pod).resolve(claims);
}

}  // namespace muster::scheduler
