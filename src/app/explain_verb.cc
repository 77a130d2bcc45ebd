#include "app/explain_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/views/pod_view.h"
#include "app/scheduler_flags.h"
#include "app/version.h"
#include "base/time.h"
#include "client/https/https_client.h"
#include "client/kubeconfig.h"
#include "explain/explain.h"
#include "explain/render.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/volumes/volume_book.h"

namespace muster::app {
namespace {

using scheduler::GroupKind;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As kubectl names kinds: singular, plural, short or with the group; case does not matter.
bool names(std::string_view word, const api::Kind& kind) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  if (const std::string suffix = "." + kind.group; !kind.group.empty() && lower.ends_with(suffix))
    lower.resize(lower.size() - suffix.size());
  return lower == kind.singular || lower == kind.plural ||
         std::ranges::find(kind.short_names, lower) != kind.short_names.end();
}

bool is_pod_group(std::string_view word) {
  return names(word, api::kinds::pod_group()) || word == "pg";
}
bool is_composite(std::string_view word) {
  return names(word, api::kinds::composite_pod_group()) || word == "cpg";
}

Result<explain::Subject> subject_of(ExplainFlags flags, const std::string& name_space) {
  if (const std::size_t slash = flags.kind.find('/');
      slash != std::string::npos && flags.name.empty()) {
    flags.name = flags.kind.substr(slash + 1);
    flags.kind.resize(slash);
  }
  const char* const usage = "write `muster explain podgroup NAME`";
  if (!is_pod_group(flags.kind) && !is_composite(flags.kind) &&
      !names(flags.kind, api::kinds::pod()))
    return fail(Reason::BadRequest,
                "cannot explain a {}; there are explanations of podgroup (pg), compositepodgroup "
                "(cpg) and pod (po)",
                flags.kind);
  if (flags.name.empty())
    return fail(Reason::BadRequest, "which {} should be explained? {}", flags.kind, usage);
  if (is_pod_group(flags.kind))
    return scheduler::GroupKey{GroupKind::PodGroup, name_space, flags.name};
  if (is_composite(flags.kind))
    return scheduler::GroupKey{GroupKind::CompositePodGroup, name_space, flags.name};
  return explain::PodKey{name_space, flags.name};
}

// Lists one kind after the other and collects every right that is missing, to name them all at
// once.
class ClusterReader {
 public:
  explicit ClusterReader(client::HttpsClient& client) : client_(client) {}

  // A kind that the server does not serve has no objects, unless it is `required`.
  Result<void> read(const api::Kind& kind, bool required, std::vector<api::ObjectPtr>& into) {
    Result<api::ListAnswer> listed = client_.list(kind, "");
    if (listed) {
      std::ranges::move(listed->items, std::back_inserter(into));
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
    Result<api::ListAnswer> listed = client_.list(kind, "");
    if (listed) {
      std::ranges::move(listed->items, std::back_inserter(into));
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
                "you may not list {} in all namespaces, which an explanation needs ({}). An "
                "administrator can allow it: kubectl create clusterrole muster-explain --verb=list "
                "--resource={}, and a clusterrolebinding for you",
                fmt::join(forbidden_, ", "), said_, fmt::join(forbidden_, ","));
  }

 private:
  client::HttpsClient& client_;
  std::vector<std::string> forbidden_;
  std::string said_;
};

Result<explain::Objects> read_cluster(client::HttpsClient& client, bool needs_groups) {
  explain::Objects objects;
  ClusterReader reader(client);
  TRY(reader.read(api::kinds::node(), true, objects.nodes));
  TRY(reader.read(api::kinds::pod(), true, objects.pods));
  TRY(reader.read(api::kinds::pod_group(), needs_groups, objects.groups));
  TRY(reader.read(api::kinds::composite_pod_group(), false, objects.groups));
  // Without claims nobody needs the right to see them.
  if (std::ranges::any_of(objects.pods, [](const api::ObjectPtr& pod) {
        return !pod->view<api::PodView>().claims.empty();
      }))
    for (const api::Kind* kind : scheduler::VolumeBook::kinds())
      TRY(reader.read(*kind, false, objects.storage));
  TRY(reader.finish());
  objects.workloads_unread =
      TRY(reader.read_if_possible(api::kinds::workload(), objects.workloads));
  // Without them, terms that select namespaces by label select none.
  TRY(reader.read_if_possible(api::kinds::name_space(), objects.namespaces));
  objects.read_at = SystemClock().now();
  return objects;
}

// How the scheduler of the cluster decides.
struct Deciding {
  scheduler::Profiles profiles = scheduler::default_profile();
  api::Gates gates = {};
};

// What the server says of its own scheduler; null if it says nothing, or not to us.
Result<api::ObjectPtr> published_settings(client::HttpsClient& client) {
  const api::Kind* const maps = api::find_kind("", "ConfigMap");
  api::Request request;
  request.verb = api::Verb::Get;
  request.kind = maps;
  request.version = maps->stored_version;
  request.name_space = kSettingsNamespace;
  request.name = kSettingsName;
  Result<api::Answer> answer = client.call(request);
  if (answer) {
    if (const auto* object = std::get_if<api::ObjectAnswer>(&answer->what)) return object->object;
    return nullptr;
  }
  const Reason reason = answer.error().reason;
  if (reason == Reason::NotFound || reason == Reason::Forbidden) return nullptr;
  return fail(answer.error());
}

// Flags are believed before the server, and the server before upstream's defaults.
Result<Deciding> how_it_decides(const ExplainFlags& flags, client::HttpsClient& client) {
  Deciding deciding;
  const bool asks = flags.scheduler_config.empty() || flags.feature_gates.empty();
  const api::ObjectPtr published = asks ? TRY(published_settings(client)) : nullptr;
  const auto entry = [&](std::string_view key) {
    if (published == nullptr) return std::string();
    const api::Json document = published->document();
    const api::Json* data = api::find(document, "data");
    return data == nullptr ? std::string() : std::string(api::find_string(*data, key));
  };
  SchedulerSettings settings;
  if (!flags.scheduler_config.empty())
    settings =
        TRY(scheduler_settings(SchedulerFlags{.config_file = flags.scheduler_config, .pack = {}}));
  else if (std::string text = entry(kSettingsConfig); !text.empty())
    settings = TRY(scheduler_settings(std::move(text)));
  deciding.profiles = settings.config.profiles;
  const std::string gates = entry(kSettingsGates);
  if (!flags.feature_gates.empty())
    deciding.gates = TRY(parse_gates(flags.feature_gates));
  else if (!gates.empty())
    deciding.gates = TRY(parse_gates({gates}));
  return deciding;
}

}  // namespace

Result<std::string> explain_from_cluster(const ExplainFlags& flags) {
  if (flags.output != "text" && flags.output != "json")
    return fail(Reason::BadRequest, "-o {}: an explanation comes as text or json", flags.output);
  // What is written is understood before a cluster is asked.
  TRY(subject_of(flags, "default"));
  client::Kubeconfig config = TRY(client::load_kubeconfig(
      client::kubeconfig_sources(flags.kubeconfig, variable("KUBECONFIG"), variable("HOME")),
      flags.context));
  const std::string name_space = !flags.name_space.empty()    ? flags.name_space
                                 : !config.name_space.empty() ? config.name_space
                                                              : "default";
  const explain::Subject subject = TRY(subject_of(flags, name_space));
  client::HttpsOptions options;
  options.user_agent = fmt::format("muster/{} (explain)", version());
  client::HttpsClient client = TRY(client::HttpsClient::open(std::move(config), options));
  const bool is_group = std::holds_alternative<scheduler::GroupKey>(subject);
  const explain::Objects objects = TRY(read_cluster(client, is_group));
  const Deciding deciding = TRY(how_it_decides(flags, client));
  const explain::Explanation explanation =
      TRY(explain::explain(objects, subject, deciding.profiles, {.gates = deciding.gates}));
  return flags.output == "json" ? explain::render_json(explanation)
                                : explain::render_text(explanation);
}

}  // namespace muster::app
