#include "app/connection.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "app/version.h"
#include "client/https/https_client.h"

namespace muster::app {
namespace {

constexpr std::string_view kInCluster = "in-cluster";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The version in which Kubernetes 1.36 serves groups, and no other does.
constexpr std::string_view kGroupsOf136 = "v1alpha2";

// What the version that is served costs, if it is older than what we speak.
std::string_view cost_of_version(const api::Kind& kind, std::string_view version) {
  if (version != kGroupsOf136) return "";
  return kind.kind == "PodGroup" ? "; older: minCount cannot be changed, groups have no preemption "
                                   "policy, and there are no groups of groups"
                                 : "; older: templates cannot be nested";
}

std::string described(const ForeignCluster& cluster, const api::Kind& kind,
                      std::string_view without) {
  if (const std::string* version = cluster.served.version_of(kind))
    return fmt::format("  {:<28} {}{}\n", kind.plural, kind.api_version(*version),
                       cost_of_version(kind, *version));
  return fmt::format("  {:<28} not served: {}\n", kind.plural, without);
}

// What its kube-apiserver has to be started with: a gate alone serves nothing.
std::string_view flags_for_groups(const ForeignCluster& cluster) {
  if (cluster.version.starts_with("v1.36."))
    return "kube-apiserver needs --feature-gates=GenericWorkload=true,GangScheduling=true "
           "--runtime-config=scheduling.k8s.io/v1alpha2=true";
  return "kube-apiserver 1.37 needs --feature-gates=GenericWorkload=true "
         "--runtime-config=scheduling.k8s.io/v1beta1=true";
}
constexpr std::string_view kNoComposites =
    "no groups of groups (kube-apiserver 1.37 needs --feature-gates=GenericWorkload=true,"
    "TopologyAwareWorkloadScheduling=true,CompositePodGroup=true "
    "--runtime-config=scheduling.k8s.io/v1alpha3=true)";

}  // namespace

void add_connection_flags(CLI::App& verb, ConnectionFlags& flags) {
  verb.add_option("--kubeconfig", flags.kubeconfig,
                  "The kubeconfig to use, or in-cluster (default: $KUBECONFIG, ~/.kube/config, or "
                  "in-cluster inside a pod)")
      ->type_name("FILE");
  verb.add_option("--context", flags.context, "The context of the kubeconfig to use");
}

Result<client::Kubeconfig> load_connection(const ConnectionFlags& flags) {
  const std::string host = variable("KUBERNETES_SERVICE_HOST");
  const std::string listed = variable("KUBECONFIG");
  if (flags.kubeconfig == kInCluster ||
      (flags.kubeconfig.empty() && listed.empty() && !host.empty()))
    return client::in_cluster_config(host, variable("KUBERNETES_SERVICE_PORT"),
                                     client::kServiceAccountFolder);
  return client::load_kubeconfig(
      client::kubeconfig_sources(flags.kubeconfig, listed, variable("HOME")), flags.context);
}

Result<ForeignCluster> discover_cluster(client::Kubeconfig config) {
  ForeignCluster cluster;
  cluster.config = std::move(config);
  client::HttpsOptions options;
  options.user_agent = fmt::format("muster/{} (discovery)", version());
  options.timeout_ms = 10'000;
  client::HttpsClient client = TRY(client::HttpsClient::open(cluster.config, options));
  const client::HttpReply reply = TRY(client.get("/version"));
  if (const Result<api::ParsedJson> parsed = api::parse_json(reply.body);
      parsed && reply.code == 200)
    cluster.version = api::find_string(parsed->value, "gitVersion");
  cluster.served = TRY(client::ServedKinds::discover(client));
  return cluster;
}

std::string describe(const ForeignCluster& cluster) {
  std::string text = fmt::format("{} (Kubernetes {}) serves:\n", cluster.config.server,
                                 cluster.version.empty() ? "of unknown version" : cluster.version);
  text += described(
      cluster, api::kinds::pod_group(),
      fmt::format("no gangs; pods are scheduled one by one ({})", flags_for_groups(cluster)));
  text +=
      described(cluster, api::kinds::workload(), "groups are not compared with their templates");
  text += described(cluster, api::kinds::composite_pod_group(), kNoComposites);
  text += described(cluster, api::kinds::group_binding(),
                    "a gang is bound pod by pod, and repaired if that is interrupted");
  return text;
}

}  // namespace muster::app
