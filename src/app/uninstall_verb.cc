#include "app/uninstall_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/connection.h"
#include "app/lease_writer.h"
#include "app/leftovers.h"
#include "app/live_leases.h"
#include "client/client.h"
#include "client/https/https_client.h"

namespace muster::app {
namespace {

// The flags as they were written.
struct Flags {
  ConnectionFlags connection;
  std::vector<std::string> scheduler_names{"muster"};
  std::vector<std::string> leases{"muster-scheduler", "muster-controllers"};
  bool dry_run = false;
};

constexpr std::string_view kLeaseNamespace = "kube-system";

// The kinds that our scheduler and controllers write to.
std::vector<const api::Kind*> written_kinds() {
  std::vector<const api::Kind*> out{&api::kinds::pod(), &api::kinds::pod_group(),
                                    &api::kinds::composite_pod_group(), &api::kinds::workload()};
  for (const auto& [group, kind] : {std::pair{"batch", "Job"}, std::pair{"apps", "StatefulSet"},
                                    std::pair{"jobset.x-k8s.io", "JobSet"},
                                    std::pair{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}})
    if (const api::Kind* found = api::find_kind(group, kind)) out.push_back(found);
  return out;
}

// One run over a cluster.
class Uninstaller {
 public:
  Uninstaller(const Flags& flags, ForeignCluster cluster, client::HttpsClient client)
      : flags_(flags), cluster_(std::move(cluster)), client_(std::move(client)) {}

  Result<int> run() {
    TRY(find_leases());
    const std::vector<std::string_view> leases(leases_.begin(), leases_.end());
    if (const std::vector<std::string> live = TRY(live_leases(client_, kLeaseNamespace, leases));
        !live.empty())
      return fail(Reason::Conflict,
                  "the lease {}/{} is renewed: Muster is still at work and would write again. Stop "
                  "it first: kubectl delete -f docs/deploy/scheduler.yaml",
                  kLeaseNamespace, live.front());
    for (const api::Kind* kind : written_kinds()) TRY(clean(*kind));
    TRY(delete_leases());
    conclude();
    return failed_ == 0 ? kOk : kRefused;
  }

 private:
  // Of those that were named only Muster's count: kube-scheduler may hold one that Muster held
  // before, and would lose it.
  Result<void> find_leases() {
    const api::ListAnswer listed = TRY(client_.list(api::kinds::lease(), kLeaseNamespace));
    for (const api::ObjectPtr& lease : listed.items) {
      const std::string& name = lease->meta().name;
      if (std::ranges::find(flags_.leases, name) == flags_.leases.end()) continue;
      if (is_lease_of_muster(*lease)) {
        leases_.push_back(name);
        continue;
      }
      const std::string writer = writer_of_holder(*lease);
      fmt::print("lease {}/{}: left alone: it is not Muster's{}\n", kLeaseNamespace, name,
                 writer.empty() ? "" : fmt::format(", its holder was last written by {}", writer));
    }
    return {};
  }

  // Unless somebody has written one since.
  Result<void> delete_leases() {
    const api::ListAnswer listed = TRY(client_.list(api::kinds::lease(), kLeaseNamespace));
    for (const api::ObjectPtr& lease : listed.items) {
      if (std::ranges::find(leases_, lease->meta().name) == leases_.end()) continue;
      if (!is_lease_of_muster(*lease)) continue;
      api::Request request = client::delete_request(*lease, std::nullopt);
      request.remove.preconditions.resource_version = std::to_string(lease->revision().value);
      apply({fmt::format("lease {}/{}", kLeaseNamespace, lease->meta().name), std::move(request)});
    }
    return {};
  }

  Result<void> clean(const api::Kind& kind) {
    const std::string* const version = cluster_.served.version_of(kind);
    if (version == nullptr) return {};
    const api::ListAnswer listed = TRY(client_.list(kind, ""));
    for (const api::ObjectPtr& object : listed.items)
      for (Leftover& leftover : leftovers_on(*object, flags_.scheduler_names)) {
        leftover.request.version = *version;
        apply(leftover);
      }
    return {};
  }

  // One that fails is named, and the others are done all the same.
  void apply(const Leftover& leftover) {
    if (!flags_.dry_run) {
      const Result<api::Answer> answer = client_.call(leftover.request);
      // An object that is gone carries nothing any more.
      if (!answer && answer.error().reason != Reason::NotFound) {
        ++failed_;
        fmt::print("{}: not removed: {}\n", leftover.sentence, answer.error().message);
        return;
      }
    }
    ++removed_;
    fmt::print("{}: {}\n", leftover.sentence, flags_.dry_run ? "would be removed" : "removed");
  }

  void conclude() const {
    if (failed_ > 0)
      fmt::print("{} removed, {} not: run it again.\n", removed_, failed_);
    else if (removed_ == 0)
      fmt::print("No object carries anything of Muster's.\n");
    else
      fmt::print("{} {}.\n", removed_, flags_.dry_run ? "would be removed" : "removed");
    if (failed_ == 0 && !flags_.dry_run)
      fmt::print("The account and its rights are left: kubectl delete -f docs/deploy/rbac.yaml\n");
  }

  const Flags& flags_;
  const ForeignCluster cluster_;
  client::HttpsClient client_;
  std::vector<std::string> leases_;  // those that were named, exist and are Muster's
  std::size_t removed_ = 0;
  std::size_t failed_ = 0;
};

Result<int> uninstall(const Flags& flags) {
  client::Kubeconfig config = TRY(load_connection(flags.connection));
  ForeignCluster cluster = TRY(discover_cluster(std::move(config)));
  client::HttpsClient client = TRY(client::HttpsClient::open(cluster.config, {}));
  return Uninstaller(flags, std::move(cluster), std::move(client)).run();
}

}  // namespace

Verb add_uninstall_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "uninstall",
      "Take Muster's finalizers, nominations, annotations, conditions and leases off a cluster");
  const auto flags = std::make_shared<Flags>();
  add_connection_flags(*verb, flags->connection);
  verb->add_option("--scheduler-name", flags->scheduler_names,
                   "The scheduler names that Muster served; pods of these lose their nominations")
      ->type_name("NAME");
  verb->add_option("--lease", flags->leases,
                   "The leases in kube-system by which Muster was elected, where the configuration "
                   "names others (or it replaced kube-scheduler); one that another program held "
                   "last is left alone")
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_flag("--dry-run", flags->dry_run, "Only say what would be removed");
  return {verb, [flags] {
            const Result<int> done = uninstall(*flags);
            return done ? *done : refuse(done.error().message);
          }};
}

}  // namespace muster::app
