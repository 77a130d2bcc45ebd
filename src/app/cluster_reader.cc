#include "app/cluster_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/views/pod_view.h"
#include "api/views/projection.h"
#include "app/version.h"
#include "base/time.h"
#include "client/kubeconfig.h"
#include "client/remote/snapshot.h"
#include "scheduler/volumes/volume_book.h"

namespace muster::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads one kind after the other and collects every right that is missing, to name them all at
// once.
class ClusterReader {
 public:
  explicit ClusterReader(client::HttpsClient& client) : client_(client) {}

  // A kind that the server does not serve has no objects, unless it is `required`.
  Result<void> read(const api::Kind& kind, bool required, std::vector<api::ObjectPtr>& into) {
    Result<std::vector<api::ObjectPtr>> listed =
        client::read_once(client_, kind, api::kept_by_scheduler);
    if (listed) {
      std::ranges::move(*listed, std::back_inserter(into));
      return {};
    }
    const Error& error = listed.error();
    if (error.reason == Reason::Forbidden) {
      forbidden_.push_back(kind.qualified_plural());
      said_ = error.message;
      return {};
    }
    if (error.reason == Reason::Unauthorized)
      return fail(Reason::Unauthorized,
                  "{} does not know who you are: the token or certificate of context {} may have "
                  "expired",
                  client_.config().server, client_.config().context);
    if (error.reason == Reason::ServiceUnavailable || error.reason == Reason::Timeout)
      return fail(error);  // says it all
    if (error.reason != Reason::NotFound)
      return fail(error.reason, "cannot list {}: {}", kind.plural, error.message);
    if (!required) return {};
    return fail(Reason::NotFound,
                "{} serves no {} ({}): the cluster has no workload-aware scheduling, or its "
                "feature gates are off",
                client_.config().server, kind.qualified_plural(), fmt::join(kind.versions, ", "));
  }

  // For what an explanation can do without: says why it could not be listed, empty if it could.
  Result<std::string> read_if_possible(const api::Kind& kind, std::vector<api::ObjectPtr>& into) {
    Result<std::vector<api::ObjectPtr>> listed =
        client::read_once(client_, kind, api::kept_by_scheduler);
    if (listed) {
      std::ranges::move(*listed, std::back_inserter(into));
      return std::string();
    }
    const Error& error = listed.error();
    if (error.reason == Reason::Forbidden) return error.message;
    if (error.reason == Reason::NotFound)
      return fmt::format("{} serves no {}", client_.config().server, kind.qualified_plural());
    return fail(error.reason, "cannot list {}: {}", kind.plural, error.message);
  }

  Result<void> finish() const {
    if (forbidden_.empty()) return {};
    return fail(Reason::Forbidden,
                "you may not list {} in all namespaces, which this needs ({}). An "
                "administrator can allow it: kubectl create clusterrole muster-reader --verb=list "
                "--resource={}, and a clusterrolebinding for you",
                fmt::join(forbidden_, ", "), said_, fmt::join(forbidden_, ","));
  }

 private:
  client::HttpsClient& client_;
  std::vector<std::string> forbidden_;
  std::string said_;
};

bool has_claims(const api::ObjectPtr& pod) { return !pod->view<api::PodView>().claims.empty(); }

}  // namespace

void add_cluster_flags(CLI::App& verb, ClusterFlags& flags) {
  verb.add_option("--kubeconfig", flags.kubeconfig,
                  "The kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)");
  verb.add_option("--context", flags.context, "The context of the kubeconfig to use");
}

Result<client::HttpsClient> connect(const ClusterFlags& flags, std::string_view verb) {
  client::Kubeconfig config = TRY(client::load_kubeconfig(
      client::kubeconfig_sources(flags.kubeconfig, variable("KUBECONFIG"), variable("HOME")),
      flags.context));
  client::HttpsOptions options;
  options.user_agent = fmt::format("muster/{} ({})", version(), verb);
  return client::HttpsClient::open(std::move(config), options);
}

Result<explain::Objects> read_cluster(client::HttpsClient& client, Reading reading,
                                      bool needs_groups) {
  explain::Objects objects;
  ClusterReader reader(client);
  TRY(reader.read(api::kinds::node(), true, objects.nodes));
  TRY(reader.read(api::kinds::pod(), true, objects.pods));
  TRY(reader.read(api::kinds::pod_group(), needs_groups, objects.groups));
  TRY(reader.read(api::kinds::composite_pod_group(), false, objects.groups));
  const bool for_attempts = reading == Reading::ForAttempts;
  // Without claims nobody needs the right to see them.
  if (for_attempts && std::ranges::any_of(objects.pods, has_claims))
    for (const api::Kind* kind : scheduler::VolumeBook::kinds())
      TRY(reader.read(*kind, false, objects.storage));
  TRY(reader.finish());
  objects.read_at = SystemClock().now();
  if (!for_attempts) return objects;
  objects.workloads_unread =
      TRY(reader.read_if_possible(api::kinds::workload(), objects.workloads));
  // Without them, terms that select namespaces by label select none.
  TRY(reader.read_if_possible(api::kinds::name_space(), objects.namespaces));
  return objects;
}

Result<explain::Objects> read_groups(client::HttpsClient& client, const std::string& name_space) {
  explain::Objects objects;
  const auto read = [&](const api::Kind& kind, std::vector<api::ObjectPtr>& into) -> Result<void> {
    api::ListAnswer listed = TRY(client.list(kind, name_space));
    std::ranges::move(listed.items, std::back_inserter(into));
    return {};
  };
  TRY(read(api::kinds::workload(), objects.workloads));
  TRY(read(api::kinds::pod_group(), objects.groups));
  TRY(read(api::kinds::composite_pod_group(), objects.groups));
  return objects;
}

}  // namespace muster::app
