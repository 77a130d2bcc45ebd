#include "controllers/common/revisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/reading.h"
#include "api/views/controller_revision_view.h"
#include "base/check.h"
#include "client/client.h"
#include "controllers/common/owners.h"

namespace muster::controllers {
namespace {

using api::ControllerRevisionView;
using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::ObjectPtr;

constexpr std::size_t kOwnerPartMax = 223;  // of a revision's name

// FNV-1, not the usual FNV-1a; of a text that goes on behind one with the hash `hash`.
std::uint32_t fnv1(std::string_view text, std::uint32_t hash = 2166136261U) {
  for (const char c : text) hash = (hash * 16777619U) ^ static_cast<unsigned char>(c);
  return hash;
}

std::string revision_hash(std::uint32_t data_hash, std::int32_t collisions) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out = std::to_string(fnv1(std::to_string(collisions), data_hash));
  for (char& c : out) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return out;
}

std::int64_t number_of(const api::Object& revision) {
  return revision.view<ControllerRevisionView>().number;
}

api::Request renumber_request(const api::Object& revision, std::int64_t number) {
  return client::patch_request(
      revision.kind(), revision.meta().name_space, revision.meta().name, "", api::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"uid", revision.meta().uid}}}, {"revision", number}});
}

api::Request create_revision_request(const WantedRevision& wanted, const std::string& name,
                                     const std::string& hash, std::int64_t number) {
  const api::ObjectMeta& owner = wanted.owner.meta();
  JsonObject labels = wanted.labels;
  labels[kRevisionHash] = hash;
  JsonObject annotations;
  for (const auto& [key, value] : owner.annotations) annotations[key] = value;
  JsonObject metadata{{"name", name},
                      {"namespace", owner.name_space},
                      {"labels", std::move(labels)},
                      {"ownerReferences", JsonArray{owner_reference(wanted.owner)}}};
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return client::create_request(
      controller_revision_kind(), owner.name_space,
      JsonObject{{"metadata", std::move(metadata)}, {"data", wanted.data}, {"revision", number}});
}

}  // namespace

const api::Kind& controller_revision_kind() {
  static const api::Kind* const kKind = api::find_kind("apps", "ControllerRevision");
  CHECK(kKind != nullptr);
  return *kKind;
}

Json template_patch(const Json& pod_template) {
  JsonObject copy = pod_template.is_object() ? pod_template.get_object() : JsonObject();
  copy["$patch"] = "replace";
  return JsonObject{{"spec", JsonObject{{"template", std::move(copy)}}}};
}

Json template_of(const api::Object& revision) {
  const Json document = revision.document();
  const Json& kept = api::part_of(api::part_of(document, "data"), "spec");
  JsonObject out = api::members(kept, "template");
  out.erase("$patch");
  return out;
}

std::string revision_hash(std::string_view data, std::int32_t collisions) {
  return revision_hash(fnv1(data), collisions);
}

std::string revision_name(std::string_view owner, std::string_view hash) {
  return fmt::format("{}-{}", owner.substr(0, kOwnerPartMax), hash);
}

std::string_view hash_of(const api::Object& revision) {
  const std::string* hash = api::lookup(revision.meta().labels, kRevisionHash);
  return hash == nullptr ? std::string_view() : std::string_view(*hash);
}

std::vector<ObjectPtr> revisions_of(const api::Object& owner, const client::Mirror& revisions) {
  std::vector<ObjectPtr> out;
  for (const client::Mirror::Entry* entry : revisions.owned_by(owner.meta().uid))
    if (is_controlled_by(*entry->object, owner.meta().uid)) out.push_back(entry->object);
  std::ranges::sort(out, {}, [](const ObjectPtr& revision) {
    return std::make_tuple(number_of(*revision), revision->meta().creation_time.value_or(Time{}),
                           std::string_view(revision->meta().name));
  });
  return out;
}

NewestRevision newest_revision(const WantedRevision& wanted, std::span<const ObjectPtr> revisions,
                               const client::Mirror& all) {
  NewestRevision out{.found = nullptr, .request = std::nullopt, .collisions = wanted.collisions};
  const auto is_same = [&](const api::Object& revision) {
    return revision.view<ControllerRevisionView>().data == wanted.data_text;
  };
  const std::int64_t next = revisions.empty() ? 1 : number_of(*revisions.back()) + 1;
  for (auto at = revisions.rbegin(); at != revisions.rend() && out.found == nullptr; ++at)
    if (is_same(**at)) out.found = *at;
  if (out.found != nullptr) {
    // An earlier template has come back.
    if (number_of(*out.found) + 1 < next) out.request = renumber_request(*out.found, next);
    return out;
  }
  const api::ObjectMeta& owner = wanted.owner.meta();
  // Others may have taken thousands of names: each costs a look at one, not at the data again.
  const std::uint32_t data_hash = fnv1(wanted.data_text);
  for (;; ++out.collisions) {
    const std::string hash = revision_hash(data_hash, out.collisions);
    const std::string name = revision_name(owner.name, hash);
    if (const ObjectPtr taken = all.find(owner.name_space, name); taken != nullptr) continue;
    out.request = create_revision_request(wanted, name, hash, next);
    return out;
  }
}

}  // namespace muster::controllers
