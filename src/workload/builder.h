#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/values/string_pairs.h"
#include "base/error.h"
#include "base/result.h"
#include "workload/allowed.h"
#include "workload/config.h"

// The workload builder: a controller describes what it runs as a tree of items, and gets the
// Workload for it, or every reason why there is none. Pure: no calls, no clock, no generated names.
// Groups are then made from the Workload's templates (stamper.h). Jobs: job.h.
//
//   Item root{.name = "trainer",
//             .defaults = {.policy = Basic{}},
//             .user = map_pod_group_config(pod_group_blocks(scheduling)),
//             .callbacks = {default_minimum(replicas)},
//             .path = "spec.scheduling"};
//   const Result<Json> workload = build(root, {.name = "train", .name_space = "ml", .owner = owner,
//                                              .allowed = {.policies = {PolicyKind::Basic, …},
//                                              …}});
namespace muster::workload {

// Changes what was resolved for an item, usually to fill in what only the controller knows. Called
// once per validate() or build(), after merging; must accept a config without a policy.
using Callback = std::function<void(Config&)>;

// A part of a workload that is scheduled as one: a role, a replicated job, the whole. With children
// it becomes a composite template, without a template of pods. Both carry its name.
struct Item {
  std::string name;      // a DNS label, unique in the tree
  Config defaults = {};  // the controller's choice
  Config user = {};      // the user's choice; empty if there is none
  std::vector<Callback> callbacks = {};
  std::vector<Item> children = {};
  // Where the user says it ("spec.scheduling"), for messages. Empty: messages name the template.
  std::string path = {};
};

// `user` over `defaults`, then the callbacks in order.
Config resolve(const Item& item);

// Gives a gang without a minimum this one, at least 1.
Callback default_minimum(std::int64_t minimum);

struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid = {};
  bool controller = true;
  bool block_owner_deletion = true;
};
api::Json owner_reference(const Owner& owner);

struct BuildOptions {
  std::string name;
  std::string name_space;
  Owner owner;  // becomes owner reference and controllerRef
  Allowed allowed;
  // Those of the root object; the ones under scheduling.muster.dev/ go to the Workload, and from
  // there to its groups.
  api::StringPairs annotations = {};
  api::Gates gates = {};
};

// Everything that is wrong with the tree: what the controller does not support, what no Workload
// may be (the server's own rules), which part contradicts its parent. A cause names the field in
// the user's API, its message begins with the item. Empty: build() succeeds.
std::vector<Cause> validate(std::span<const Item> roots, const BuildOptions& options);

// The Workload as a document for a create request (without apiVersion and kind). One root is the
// rule; several are possible if all have children or none has. Invalid with all causes of
// validate(), or BadRequest for an owner that cannot be referred to.
Result<api::Json> build(std::span<const Item> roots, const BuildOptions& options);
inline Result<api::Json> build(const Item& root, const BuildOptions& options) {
  return build(std::span(&root, 1), options);
}

// Annotations under scheduling.muster.dev/, the ones that reach groups.
inline constexpr std::string_view kInheritedAnnotations = "scheduling.muster.dev/";

}  // namespace muster::workload
