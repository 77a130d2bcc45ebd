#include "workload/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "api/validation/field_errors.h"
#include "api/validation/workload.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kPodGroups = "podGroupTemplates";
constexpr std::string_view kComposites = "compositePodGroupTemplates";

JsonObject policy_document(const Config& config, std::string_view minimum) {
  const Gang* gang = config.gang();
  if (gang == nullptr) return {{"basic", JsonObject()}};
  JsonObject parameters;
  if (gang->minimum) parameters[minimum] = *gang->minimum;
  return {{"gang", std::move(parameters)}};
}

JsonArray topology_document(const Config& config) {
  JsonArray topology;
  for (const std::string& key : config.topology_keys) topology.push_back(JsonObject{{"key", key}});
  return topology;
}

JsonArray claims_document(const Config& config) {
  JsonArray claims;
  for (const Claim& claim : config.claims) {
    const bool from_template = claim.source == Claim::Source::Template;
    claims.push_back(JsonObject{
        {"name", claim.name},
        {from_template ? "resourceClaimTemplateName" : "resourceClaimName", claim.source_name}});
  }
  return claims;
}

// One item of the tree as it was compiled.
struct Place {
  const Item* item = nullptr;
  Config config;
  bool says_all = false;  // disrupted as a whole, and not only because it is part of what is
};

// The templates of a tree, and which item each place in them came from.
class Compilation {
 public:
  explicit Compilation(std::span<const Item> roots) {
    Level level;
    for (const Item& root : roots) compile(root, "spec", false, level);
    put_lists(std::move(level), spec_);
  }

  JsonObject& spec() { return spec_; }
  const std::map<std::string, Place>& places() const { return places_; }

  // The item whose template holds this field, and the field's path below it.
  struct Found {
    const Place* place = nullptr;
    std::string_view rest;
  };
  Found find(std::string_view field) const {
    Found found;
    for (std::size_t end = field.find(']'); end != std::string_view::npos;
         end = field.find(']', end + 1)) {
      const auto at = places_.find(std::string(field.substr(0, end + 1)));
      if (at == places_.end()) break;
      found = {.place = &at->second, .rest = field.substr(end + 1)};
    }
    return found;
  }

 private:
  // What becomes of siblings.
  struct Level {
    JsonArray pod_groups;
    JsonArray composites;
  };

  static void put_lists(Level level, JsonObject& holder) {
    if (!level.pod_groups.empty()) holder[kPodGroups] = std::move(level.pod_groups);
    if (!level.composites.empty()) holder[kComposites] = std::move(level.composites);
  }

  void compile(const Item& item, const std::string& above, bool inside_all, Level& siblings) {
    const bool composite = !item.children.empty();
    JsonArray& list = composite ? siblings.composites : siblings.pod_groups;
    const std::string path =
        fmt::format("{}.{}[{}]", above, composite ? kComposites : kPodGroups, list.size());
    Config config = resolve(item);
    const bool says_all = config.disruption == Disruption::All;
    // A part of what is disrupted as a whole is, too, unless the user contradicts: then it is
    // refused.
    if (inside_all && !config.disruption) config.disruption = Disruption::All;
    const bool whole = inside_all || says_all;

    JsonObject out = document(item, config, composite);
    Level children;
    for (const Item& child : item.children) compile(child, path, whole, children);
    put_lists(std::move(children), out);
    list.push_back(std::move(out));
    places_.emplace(path, Place{.item = &item, .config = std::move(config), .says_all = says_all});
  }

  static JsonObject document(const Item& item, const Config& config, bool composite) {
    JsonObject out{
        {"name", item.name},
        {"schedulingPolicy", policy_document(config, composite ? "minGroupCount" : "minCount")}};
    if (!config.topology_keys.empty())
      out["schedulingConstraints"] = JsonObject{{"topology", topology_document(config)}};
    if (!composite && !config.claims.empty()) out["resourceClaims"] = claims_document(config);
    if (config.disruption)
      out["disruptionMode"] =
          JsonObject{{*config.disruption == Disruption::All ? "all" : "single", JsonObject()}};
    if (!config.priority_class.empty()) out["priorityClassName"] = config.priority_class;
    if (config.priority) out["priority"] = *config.priority;
    if (!config.preemption_policy.empty()) out["preemptionPolicy"] = config.preemption_policy;
    return out;
  }

  JsonObject spec_;
  std::map<std::string, Place> places_;  // by path of the template
};

JsonObject inherited(const api::StringPairs& annotations) {
  JsonObject out;
  for (const auto& [key, value] : annotations)
    if (key.starts_with(kInheritedAnnotations)) out[key] = value;
  return out;
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

JsonObject workload_document(const BuildOptions& options, JsonObject spec) {
  const Owner& owner = options.owner;
  JsonObject metadata{{"name", options.name}, {"namespace", options.name_space}};
  if (JsonObject annotations = inherited(options.annotations); !annotations.empty())
    metadata["annotations"] = std::move(annotations);
  metadata["ownerReferences"] = JsonArray{owner_reference(owner)};
  JsonObject whole{{"controllerRef", JsonObject{{"apiGroup", group_of(owner.api_version)},
                                                {"kind", owner.kind},
                                                {"name", owner.name}}}};
  for (auto& list : spec) whole[list.key()] = std::move(list.value());
  return {{"metadata", std::move(metadata)}, {"spec", std::move(whole)}};
}

// Where the user finds the field: in the controller's API if the item says where, else in the
// template. The name of a template and its lists are the controller's, not the user's.
std::string shown_field(const Compilation::Found& found, const std::string& field) {
  if (found.place->item->path.empty() || found.rest.empty() || found.rest == ".name" ||
      found.rest.starts_with(".podGroup") || found.rest.starts_with(".compositePodGroup"))
    return field;
  return found.place->item->path + std::string(found.rest);
}

Cause about_item(const Compilation& compiled, Cause cause) {
  const Compilation::Found found = compiled.find(cause.field);
  if (found.place == nullptr) return cause;
  cause.field = shown_field(found, cause.field);
  cause.message = fmt::format("item \"{}\": {}", found.place->item->name, cause.message);
  return cause;
}

// What the controller does not support, of one item.
void check_support(const Place& place, const Allowed& allowed, const api::FieldPath& path,
                   api::FieldErrors& errors) {
  const Config& config = place.config;
  const api::FieldPath policy = path.child("schedulingPolicy");
  const api::FieldPath mode = path.child("disruptionMode");
  check_allowed(config, allowed, policy, mode, errors);
  const bool composite = !place.item->children.empty();
  if (!composite && config.is_basic() && place.says_all && !allowed.basic_disrupted_together)
    errors.invalid(mode, "",
                   "the disruptionMode `all` is not supported with the Basic scheduling policy");
  if (composite && !config.claims.empty())
    errors.forbidden(path.child("resourceClaims"), "only groups of pods can have claims");
}

std::vector<Cause> causes_of(const Compilation& compiled, const Json& document,
                             const BuildOptions& options) {
  api::FieldErrors errors;
  for (const auto& [path, place] : compiled.places()) {
    const api::FieldPath here(path);
    check_support(place, options.allowed, here, errors);
  }
  errors.append(api::validate_workload(document, options.gates));
  std::vector<Cause> causes;
  for (Cause& cause : errors.causes()) causes.push_back(about_item(compiled, std::move(cause)));
  return causes;
}

Result<void> check_owner(const Owner& owner) {
  if (owner.kind.empty() || owner.name.empty() || owner.api_version.empty())
    return fail(Reason::BadRequest,
                "a Workload needs an owner with apiVersion, kind and name to refer to");
  if (std::ranges::count(owner.api_version, '/') > 1)
    return fail(Reason::BadRequest, "the owner's apiVersion \"{}\" is no group and version",
                owner.api_version);
  return {};
}

Error not_built(const std::string& name, std::vector<Cause> causes) {
  std::vector<std::string> sentences;
  sentences.reserve(causes.size());
  for (const Cause& cause : causes)
    sentences.push_back(fmt::format("{}: {}", cause.field, cause.message));
  Error error = make_error(Reason::Invalid, "Workload \"{}\" cannot be built: {}", name,
                           fmt::join(sentences, "; "));
  error.causes = std::move(causes);
  return error;
}

}  // namespace

Config resolve(const Item& item) {
  Config config = merge(item.defaults, item.user);
  for (const Callback& callback : item.callbacks)
    if (callback) callback(config);
  return config;
}

Callback default_minimum(std::int64_t minimum) {
  const auto bounded =
      std::clamp<std::int64_t>(minimum, 1, std::numeric_limits<std::int32_t>::max());
  return [count = static_cast<std::int32_t>(bounded)](Config& config) {
    if (Gang* gang = config.gang(); gang != nullptr && !gang->minimum) gang->minimum = count;
  };
}

Json owner_reference(const Owner& owner) {
  JsonObject reference{{"apiVersion", owner.api_version},
                       {"kind", owner.kind},
                       {"name", owner.name},
                       {"uid", owner.uid}};
  if (owner.controller) reference["controller"] = true;
  if (owner.block_owner_deletion) reference["blockOwnerDeletion"] = true;
  return reference;
}

std::vector<Cause> validate(std::span<const Item> roots, const BuildOptions& options) {
  Compilation compiled(roots);
  const Json document = workload_document(options, compiled.spec());
  return causes_of(compiled, document, options);
}

Result<Json> build(std::span<const Item> roots, const BuildOptions& options) {
  TRY(check_owner(options.owner));
  Compilation compiled(roots);
  Json document = workload_document(options, compiled.spec());
  if (std::vector<Cause> causes = causes_of(compiled, document, options); !causes.empty())
    return fail(not_built(options.name, std::move(causes)));
  return document;
}

}  // namespace muster::workload
