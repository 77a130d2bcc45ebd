#include "server/core/bootstrap/bootstrap.h"

#include <string>
#include <string_view>
#include <utility>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/log.h"
#include "server/core/bootstrap/bootstrap_roles.h"

namespace muster::server {
namespace {

using api::JsonArray;
using api::JsonObject;

// How pods, and tools that look for one, find this server.
JsonObject own_service() {
  return {
      {"metadata",
       JsonObject{{"labels", JsonObject{{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
      {"spec", JsonObject{{"type", "ClusterIP"},
                          {"clusterIP", "10.96.0.1"},
                          {"ports", JsonArray{JsonObject{{"name", "https"},
                                                         {"port", std::int64_t{443}},
                                                         {"protocol", "TCP"},
                                                         {"targetPort", std::int64_t{6443}}}}}}}};
}

class Bootstrap {
 public:
  Bootstrap(Registry& registry, const store::Store& store, Time now)
      : registry_(registry), store_(store), now_(now) {}

  void create_missing(const api::Kind& kind, std::string_view name_space, std::string_view name,
                      JsonObject document) {
    if (standing(kind, name_space, name)) return;
    api::ensure_object(document, "metadata").insert_or_assign("name", std::string(name));
    submit(api::Verb::Create, kind, name_space, {}, std::move(document));
  }

  void create_or_mend(BootstrapObject object) {
    const std::string name(api::find_string(object.document.at("metadata"), "name"));
    const std::string home(api::find_string(object.document.at("metadata"), "namespace"));
    if (const api::ObjectPtr found = standing(*object.kind, home, name)) {
      if (auto patch = lost_parts(object.document, found->document()))
        submit(api::Verb::Patch, *object.kind, home, name, *std::move(patch));
    } else {
      create_missing(*object.kind, home, name, std::move(object.document.as_object()));
    }
  }

 private:
  api::ObjectPtr standing(const api::Kind& kind, std::string_view name_space,
                          std::string_view name) const {
    return store_.get(store::make_key(kind, name_space, name));
  }

  void submit(api::Verb verb, const api::Kind& kind, std::string_view name_space,
              std::string_view name, api::Json body) {
    api::Request request;
    request.verb = verb;
    request.kind = &kind;
    request.version = kind.stored_version;
    request.user = {.name = "system:apiserver", .groups = {"system:masters"}};
    request.name_space = name_space;
    request.name = name;
    request.body = std::move(body);
    registry_.submit(std::move(request), now_, [](const Result<api::Answer>& answer) {
      if (!answer) log(LogLevel::Error, "bootstrap: {}", answer.error().message);
    });
  }

  Registry& registry_;
  const store::Store& store_;
  const Time now_;
};

}  // namespace

void bootstrap(Registry& registry, const store::Store& store, Time now) {
  Bootstrap steps(registry, store, now);
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"})
    steps.create_missing(api::kinds::name_space(), "", name, {});
  steps.create_missing(
      api::kinds::priority_class(), "", "system-cluster-critical",
      {{"value", 2'000'000'000},
       {"description",
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary."}});
  steps.create_missing(
      api::kinds::priority_class(), "", "system-node-critical",
      {{"value", 2'000'001'000},
       {"description",
        "Used for system critical pods that must not be moved from their current node."}});
  for (BootstrapObject& object : bootstrap_roles()) steps.create_or_mend(std::move(object));
  steps.create_missing(*api::find_kind("", "Service"), "default", "kubernetes", own_service());
  registry.flush();
}

}  // namespace muster::server
