#include "app/doctor_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/connection.h"
#include "base/check.h"
#include "client/client.h"
#include "client/https/https_client.h"
#include "components/components.h"

namespace muster::app {
namespace {

// The flags as they were written.
struct Flags {
  ConnectionFlags connection;
  std::string lease = "muster-scheduler";
  std::string as;  // whose rights; empty: the caller's
};

// Something the scheduler does, and what it is worth: what does not work without the right to.
struct Right {
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string without;
  bool essential = false;
  std::string name_space = {};
  std::string name = {};
};

constexpr std::string_view kNothing = "nothing is scheduled";
constexpr std::string_view kLeaseNamespace = "kube-system";

// What it writes. Kinds that the server does not have are left out later.
std::vector<Right> rights_to_write(const std::string& lease) {
  const std::string nothing(kNothing);
  const std::string lease_space(kLeaseNamespace);
  const std::string lonely = "it cannot be elected, and stays idle (leaderElect: false needs none)";
  return {
      {"create", "", "pods", "binding", nothing, true},
      {"get", "", "pods", "",
       "a binding whose answer was lost counts as refused, though it was made"},
      {"patch", "", "pods", "status", "pods do not say why they wait"},
      {"delete", "", "pods", "", "nobody is evicted for pods of higher priority"},
      {"patch", "", "persistentvolumeclaims", "", "pods with new volumes wait"},
      {"patch", "", "persistentvolumes", "", "pods with new volumes wait"},
      {"create", "", "events", "", "nothing is said in events"},
      {"patch", "", "events", "", "repeated events are not counted"},
      {"patch", "scheduling.k8s.io", "podgroups", "status", "groups do not say why they wait"},
      {"patch", "scheduling.k8s.io", "compositepodgroups", "status",
       "groups of groups do not say why they wait"},
      {"get", "coordination.k8s.io", "leases", "", lonely, true, lease_space, lease},
      {"update", "coordination.k8s.io", "leases", "", lonely, true, lease_space, lease},
      {"create", "coordination.k8s.io", "leases", "", lonely + ", unless the lease exists", false,
       lease_space},
      {"create", "authentication.k8s.io", "tokenreviews", "", "nobody may read /metrics"},
      {"create", "authorization.k8s.io", "subjectaccessreviews", "", "nobody may read /metrics"}};
}

// All it needs here: what it follows is what the component says, so that nothing can be forgotten.
std::vector<Right> rights_needed(const ForeignCluster& cluster, const std::string& lease) {
  std::vector<Right> rights;
  const auto entry =
      std::ranges::find(components::all(), components::kScheduler, &components::Entry::name);
  const std::unique_ptr<client::Component> scheduler =
      entry->make({}, {.send = [](const api::Request&, std::uint64_t) {}});
  for (const api::Kind* kind : scheduler->watched_kinds())
    for (const char* verb : {"list", "watch"})
      rights.push_back({verb, kind->group, kind->plural, "", std::string(kNothing), true});
  std::ranges::move(rights_to_write(lease), std::back_inserter(rights));
  std::erase_if(rights, [&cluster](const Right& right) {
    const auto is_meant = [&right](const api::Kind* kind) {
      return kind->group == right.group && kind->plural == right.resource;
    };
    const auto kind = std::ranges::find_if(api::all_kinds(), is_meant);
    return kind != api::all_kinds().end() && (*kind)->stored &&
           cluster.served.version_of(**kind) == nullptr;
  });
  return rights;
}

Result<bool> may(client::HttpsClient& client, const Right& right) {
  const api::Kind* const kind = api::find_kind("authorization.k8s.io", "SelfSubjectAccessReview");
  CHECK(kind != nullptr);
  api::JsonObject attributes{
      {"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  if (!right.name_space.empty()) attributes["namespace"] = right.name_space;
  if (!right.name.empty()) attributes["name"] = right.name;
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
  return fmt::format("{} {}{}{}{}{}{}{}", right.verb, right.resource,
                     right.subresource.empty() ? "" : "/", right.subresource,
                     right.group.empty() ? "" : ".", right.group, right.name.empty() ? "" : " ",
                     right.name);
}

// What is missing of the rights; `usable` becomes false if nothing works without one.
Result<std::string> missing_rights(client::HttpsClient& client, std::span<const Right> rights,
                                   bool& usable) {
  std::string text;
  for (const Right& right : rights) {
    if (TRY(may(client, right))) continue;
    text += fmt::format("  {:<52} {}\n", name_of(right), right.without);
    usable = usable && !right.essential;
  }
  return text;
}

// A gate of kube-apiserver, and what is missing where it is off.
struct GateOfServer {
  std::string_view name;
  std::string_view without;
};
constexpr std::array<GateOfServer, 7> kGatesOfServer{{
    {"GenericWorkload", "no groups: pods are scheduled one by one"},
    {"GangScheduling", "gangs are not accepted as such: policies other than basic are dropped"},
    {"TopologyAwareWorkloadScheduling", "topology constraints of groups are dropped when written"},
    {"WorkloadAwarePreemption", "groups have no priority and no disruption mode of their own"},
    {"CompositePodGroup", "no groups of groups"},
    {"PodGroupPreemptionPolicy",
     "preemptionPolicy of groups is dropped when written: pods have it"},
    {"WorkloadWithJob", "spec.scheduling of Jobs is dropped, and they get no groups by themselves"},
}};

// Which of them are off, as the server's own metrics tell. One that does not name a gate has none.
Result<std::string> gates_off(client::HttpsClient& client) {
  const client::HttpReply reply = TRY(client.get("/metrics"));
  if (reply.code != 200)
    return fmt::format("  not known: reading them needs the right to get /metrics (answer {})\n",
                       reply.code);
  std::string text;
  for (const GateOfServer& gate : kGatesOfServer) {
    const std::size_t at =
        reply.body.find(fmt::format("kubernetes_feature_enabled{{name=\"{}\"", gate.name));
    if (at == std::string::npos) continue;
    const std::string_view line =
        std::string_view(reply.body).substr(at, reply.body.find('\n', at) - at);
    if (line.ends_with(" 0")) text += fmt::format("  {:<52} {}\n", gate.name, gate.without);
  }
  return text;
}

// The server is asked as the user `as`; empty: as oneself.
Result<client::HttpsClient> client_as(client::Kubeconfig config, const std::string& as) {
  if (!as.empty()) {
    config.impersonate = as;
    config.impersonate_uid.clear();
    config.impersonate_groups.clear();
  }
  return client::HttpsClient::open(std::move(config), {});
}

Result<int> examine(const Flags& flags) {
  client::Kubeconfig config = TRY(load_connection(flags.connection));
  const ForeignCluster cluster = TRY(discover_cluster(std::move(config)));
  client::HttpsClient client = TRY(client_as(cluster.config, ""));
  fmt::print("{}", describe(cluster));
  if (const std::string off = TRY(gates_off(client)); !off.empty())
    fmt::print("Gates of its kube-apiserver that are off:\n{}", off);
  bool usable = true;
  client::HttpsClient user = TRY(client_as(cluster.config, flags.as));
  const std::string missing =
      TRY(missing_rights(user, rights_needed(cluster, flags.lease), usable));
  const std::string who = flags.as.empty()
                              ? fmt::format("The user of context {}", cluster.config.context)
                              : fmt::format("The user {}", flags.as);
  if (missing.empty())
    fmt::print("{} may do all that a scheduler does.\n", who);
  else
    fmt::print("{} may not (docs/deploy/rbac.yaml has what a scheduler needs):\n{}", who, missing);
  return usable ? kOk : kRefused;
}

}  // namespace

Verb add_doctor_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "Say what a Kubernetes cluster offers to `muster scheduler`, and what is missing");
  const auto flags = std::make_shared<Flags>();
  add_connection_flags(*verb, flags->connection);
  verb->add_option(
          "--lease", flags->lease,
          "The lease in kube-system by which it will be elected: kube-scheduler to replace "
          "that one")
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--as", flags->as,
                   "Whose rights to look at, if not your own: "
                   "system:serviceaccount:kube-system:muster-scheduler for that of docs/deploy; it "
                   "takes the right to impersonate")
      ->type_name("USER");
  return {verb, [flags] {
            const Result<int> examined = examine(*flags);
            return examined ? *examined : refuse(examined.error().message);
          }};
}

}  // namespace muster::app
