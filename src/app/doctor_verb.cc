#include "app/doctor_verb.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "app/cli.h"
#include "app/connection.h"
#include "base/check.h"
#include "client/client.h"
#include "client/https/https_client.h"

namespace muster::app {
namespace {

// Something the scheduler does, and what it is worth: what does not work without the right to.
struct Right {
  std::string_view verb;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  std::string_view without;
  bool essential = true;
};

constexpr std::array<Right, 28> kRights{{
    {"watch", "", "pods", "", "nothing is scheduled"},
    {"watch", "", "nodes", "", "nothing is scheduled"},
    {"watch", "", "namespaces", "", "nothing is scheduled"},
    {"watch", "", "services", "", "nothing is scheduled"},
    {"watch", "", "replicationcontrollers", "", "nothing is scheduled"},
    {"watch", "apps", "replicasets", "", "nothing is scheduled"},
    {"watch", "apps", "statefulsets", "", "nothing is scheduled"},
    {"watch", "", "persistentvolumes", "", "nothing is scheduled"},
    {"watch", "", "persistentvolumeclaims", "", "nothing is scheduled"},
    {"watch", "policy", "poddisruptionbudgets", "", "nothing is scheduled"},
    {"watch", "storage.k8s.io", "storageclasses", "", "nothing is scheduled"},
    {"watch", "storage.k8s.io", "csinodes", "", "nothing is scheduled"},
    {"watch", "storage.k8s.io", "csidrivers", "", "nothing is scheduled"},
    {"watch", "storage.k8s.io", "csistoragecapacities", "", "nothing is scheduled"},
    {"watch", "storage.k8s.io", "volumeattachments", "", "nothing is scheduled"},
    {"create", "", "pods", "binding", "nothing is scheduled"},
    {"patch", "", "pods", "status", "pods do not say why they wait", false},
    {"delete", "", "pods", "", "nobody is evicted for pods of higher priority", false},
    {"patch", "", "persistentvolumeclaims", "", "pods with new volumes wait", false},
    {"patch", "", "persistentvolumes", "", "pods with new volumes wait", false},
    {"create", "", "events", "", "nothing is said in events", false},
    {"patch", "", "events", "", "repeated events are not counted", false},
    {"watch", "scheduling.k8s.io", "podgroups", "", "nothing is scheduled, where it is served"},
    {"patch", "scheduling.k8s.io", "podgroups", "status", "groups do not say why they wait", false},
    {"watch", "scheduling.k8s.io", "compositepodgroups", "",
     "nothing is scheduled, where it is served"},
    {"patch", "scheduling.k8s.io", "compositepodgroups", "status",
     "groups of groups do not say why they wait", false},
    {"create", "authentication.k8s.io", "tokenreviews", "", "nobody may read /metrics", false},
    {"create", "authorization.k8s.io", "subjectaccessreviews", "", "nobody may read /metrics",
     false},
}};

Result<bool> may(client::HttpsClient& client, const Right& right) {
  const api::Kind* const kind = api::find_kind("authorization.k8s.io", "SelfSubjectAccessReview");
  CHECK(kind != nullptr);
  api::JsonObject attributes{
      {"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  const api::Answer answer = TRY(client.call(client::create_request(
      *kind, "",
      api::JsonObject{{"metadata", api::JsonObject{}},
                      {"spec", api::JsonObject{{"resourceAttributes", std::move(attributes)}}}})));
  api::Json document;
  if (const auto* object = std::get_if<api::ObjectAnswer>(&answer.what))
    document = object->object->document();
  else if (const auto* other = std::get_if<api::DocumentAnswer>(&answer.what))
    document = other->document;
  const api::Json* const allowed = api::find_path(document, "status.allowed");
  return allowed != nullptr && allowed->is_bool() && allowed->get_bool();
}

std::string name_of(const Right& right) {
  return fmt::format("{} {}{}{}{}{}", right.verb, right.resource,
                     right.subresource.empty() ? "" : "/", right.subresource,
                     right.group.empty() ? "" : ".", right.group);
}

// What is missing of the rights; `usable` becomes false if nothing works without one.
Result<std::string> missing_rights(client::HttpsClient& client, bool& usable) {
  std::string text;
  for (const Right& right : kRights) {
    if (TRY(may(client, right))) continue;
    text += fmt::format("  {:<52} {}\n", name_of(right), right.without);
    usable = usable && !right.essential;
  }
  return text;
}

Result<int> examine(const ConnectionFlags& flags) {
  client::Kubeconfig config = TRY(load_connection(flags));
  const ForeignCluster cluster = TRY(discover_cluster(std::move(config)));
  client::HttpsClient client = TRY(client::HttpsClient::open(cluster.config, {}));
  fmt::print("{}", describe(cluster));
  bool usable = true;
  const std::string missing = TRY(missing_rights(client, usable));
  if (missing.empty())
    fmt::print("The user of context {} may do all that a scheduler does.\n",
               cluster.config.context);
  else
    fmt::print(
        "The user of context {} may not (docs/deploy/rbac.yaml has what a scheduler needs):\n{}",
        cluster.config.context, missing);
  return usable ? kOk : kRefused;
}

}  // namespace

Verb add_doctor_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "Say what a Kubernetes cluster offers to `muster scheduler`, and what is missing");
  const auto flags = std::make_shared<ConnectionFlags>();
  add_connection_flags(*verb, *flags);
  return {verb, [flags] {
            const Result<int> examined = examine(*flags);
            return examined ? *examined : refuse(examined.error().message);
          }};
}

}  // namespace muster::app
