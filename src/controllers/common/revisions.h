#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/request.h"
#include "client/kit/mirror.h"

// The history of an owner's template, kept as ControllerRevisions: with Kubernetes' names, hashes
// and numbers.
namespace muster::controllers {

const api::Kind& controller_revision_kind();

// On pods: StatefulSets give the name of the revision, DaemonSets its hash.
inline constexpr std::string_view kPodRevision = "controller-revision-hash";
// On revisions.
inline constexpr std::string_view kRevisionHash = "controller.kubernetes.io/hash";

// What a revision of StatefulSets and DaemonSets keeps: a patch that restores the template.
api::Json template_patch(const api::Json& pod_template);
// The template in the data of such a revision.
api::Json template_of(const api::Object& revision);

// `collisions`: how often its name was already taken by other data.
std::string revision_hash(std::string_view data, std::int32_t collisions);
std::string revision_name(std::string_view owner, std::string_view hash);
// The hash that a revision carries as its label; empty if it has none.
std::string_view hash_of(const api::Object& revision);

// The revisions that the owner controls, in the order of their numbers, the newest last.
// `revisions` needs its index of owners.
std::vector<api::ObjectPtr> revisions_of(const api::Object& owner, const client::Mirror& revisions);

// The revision with this data, which must be the newest. If there is none, or it is not the newest,
// `request` makes it so, and its outcome must be seen first.
struct NewestRevision {
  api::ObjectPtr found;  // null: it does not exist yet
  std::optional<api::Request> request;
  std::int32_t collisions = 0;
};
struct WantedRevision {
  const api::Object& owner;
  const api::Json& data;
  std::string_view data_text;  // sorted_text(data)
  const api::JsonObject& labels;
  std::int32_t collisions = 0;  // that are known already
};
// `all` are the revisions of every owner, to see which names are taken.
NewestRevision newest_revision(const WantedRevision& wanted,
                               std::span<const api::ObjectPtr> revisions,
                               const client::Mirror& all);

// Revisions to delete, oldest first, so that at most `limit` are kept of those that are not live.
// `is_live` says whether somebody still needs the revision of this name.
template <typename IsLive>
std::vector<api::ObjectPtr> surplus_revisions(std::span<const api::ObjectPtr> revisions,
                                              std::int64_t limit, const IsLive& is_live) {
  std::vector<api::ObjectPtr> old;
  for (const api::ObjectPtr& revision : revisions)
    if (!revision->meta().deletion_time && !is_live(revision->meta().name)) old.push_back(revision);
  const std::size_t kept = limit < 0 ? 0 : static_cast<std::size_t>(limit);
  old.resize(old.size() > kept ? old.size() - kept : 0);
  return old;
}

}  // namespace muster::controllers
