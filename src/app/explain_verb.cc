#include "app/explain_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/kinds/kind.h"
#include "app/cluster_reader.h"
#include "app/scheduler_flags.h"
#include "client/https/https_client.h"
#include "explain/explain.h"
#include "explain/indented_json.h"
#include "explain/overview.h"
#include "explain/render.h"
#include "explain/roots.h"
#include "scheduler/framework/profiles.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::app {
namespace {

using scheduler::GroupKind;

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

bool is_pod_group(std::string_view word) { return names(word, api::kinds::pod_group()); }
bool is_composite(std::string_view word) { return names(word, api::kinds::composite_pod_group()); }

// What has its groups made by a controller.
const api::Kind* owner_kind(std::string_view word) {
  for (const auto& [group, kind] :
       {std::pair("batch", "Job"), std::pair("jobset.x-k8s.io", "JobSet"),
        std::pair("leaderworkerset.x-k8s.io", "LeaderWorkerSet")})
    if (const api::Kind* found = api::find_kind(group, kind);
        found != nullptr && names(word, *found))
      return found;
  return nullptr;
}

Result<explain::Subject> subject_of(ExplainFlags flags, const std::string& name_space) {
  if (const std::size_t slash = flags.kind.find('/');
      slash != std::string::npos && flags.name.empty()) {
    flags.name = flags.kind.substr(slash + 1);
    flags.kind.resize(slash);
  }
  const api::Kind* const owner = owner_kind(flags.kind);
  if (!is_pod_group(flags.kind) && !is_composite(flags.kind) && owner == nullptr &&
      !names(flags.kind, api::kinds::pod()))
    return fail(Reason::BadRequest,
                "cannot explain a {}; there are explanations of podgroup (pg), compositepodgroup "
                "(cpg), pod (po), job, jobset and leaderworkerset (lws)",
                flags.kind);
  if (flags.name.empty())
    return fail(Reason::BadRequest,
                "which {0} should be explained? write `muster explain {0} NAME`", flags.kind);
  if (owner != nullptr)
    return explain::WorkloadOwner{owner->group, owner->kind, name_space, flags.name};
  if (is_pod_group(flags.kind))
    return scheduler::GroupKey{GroupKind::PodGroup, name_space, flags.name};
  if (is_composite(flags.kind))
    return scheduler::GroupKey{GroupKind::CompositePodGroup, name_space, flags.name};
  return explain::PodKey{name_space, flags.name};
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

constexpr int kTriesMax = 10;

// What the server says of a subject, or why it says nothing.
struct ServerAnswer {
  std::optional<api::Json> status;
  std::string refusal;  // it is not allowed; empty: it is not served
};

api::Request question(const explain::Subject& subject,
                      const std::optional<explain::WorkloadOwner>& owner) {
  api::Request request;
  request.verb = api::Verb::Create;
  request.subresource = "explanation";
  request.body = api::JsonObject{};
  if (owner)
    request.body = api::JsonObject{
        {"spec", api::JsonObject{{"owner", api::JsonObject{{"apiGroup", owner->group},
                                                           {"kind", owner->kind},
                                                           {"name", owner->name}}}}}};
  if (const auto* group = std::get_if<scheduler::GroupKey>(&subject)) {
    request.kind = group->kind == GroupKind::PodGroup ? &api::kinds::pod_group()
                                                      : &api::kinds::composite_pod_group();
    request.name_space = group->name_space;
    request.name = group->name;
  } else {
    const auto& pod = std::get<explain::PodKey>(subject);
    request.kind = &api::kinds::pod();
    request.name_space = pod.name_space;
    request.name = pod.name;
  }
  request.version = request.kind->stored_version;
  return request;
}

Result<ServerAnswer> ask_server(client::HttpsClient& client, const api::Request& request) {
  Result<api::Answer> answer = client.call(request);
  // Each user has a turn a second.
  for (int tries = 1; tries < kTriesMax && !answer; ++tries) {
    if (answer.error().reason != Reason::TooManyRequests) break;
    std::this_thread::sleep_for(std::chrono::seconds{1});
    answer = client.call(request);
  }
  if (answer) {
    auto* document = std::get_if<api::DocumentAnswer>(&answer->what);
    const api::Json* status =
        document == nullptr ? nullptr : api::find(document->document, "status");
    if (status == nullptr) return ServerAnswer{};
    return ServerAnswer{*status, ""};
  }
  // A server without such an endpoint says so in one of these ways; what is not found by its name
  // is named in the message of one who does.
  const Error& error = answer.error();
  if (error.reason == Reason::Forbidden) return ServerAnswer{std::nullopt, error.message};
  const bool is_unserved = error.reason == Reason::MethodNotAllowed ||
                           (error.reason == Reason::NotFound &&
                            error.message.find("requested resource") != std::string::npos);
  if (is_unserved) return ServerAnswer{};
  return fail(error);
}

// If the object does not exist, that is all there is to say. A user who may not read it may still
// have it explained.
Result<void> check_exists(client::HttpsClient& client, const explain::WorkloadOwner& owner) {
  api::Request get;
  get.kind = api::find_kind(owner.group, owner.kind);
  get.version = get.kind->stored_version;
  get.name_space = owner.name_space;
  get.name = owner.name;
  const Result<api::Answer> answer = client.call(get);
  if (answer || answer.error().reason != Reason::NotFound) return {};
  return fail(Reason::NotFound, "there is no {} {} in namespace {}", owner.kind, owner.name,
              owner.name_space);
}

struct ServerText {
  std::optional<std::string> text;  // none: the server explains nothing, or not to us
  std::string refusal;
};

Result<ServerText> explained_by_server(client::HttpsClient& client, const explain::Subject& subject,
                                       const ExplainFlags& flags) {
  std::optional<explain::WorkloadOwner> owner;
  explain::Subject asked = subject;
  if (const auto* of = std::get_if<explain::WorkloadOwner>(&subject)) {
    owner = *of;
    const Result<explain::Objects> groups = read_groups(client, of->name_space);
    if (!groups) return ServerText{};
    // Who may have one of its groups explained may have all of them.
    asked = TRY(explain::root_groups(*groups, *of)).front();
  }
  ServerAnswer answer = TRY(ask_server(client, question(asked, owner)));
  if (!answer.status) return ServerText{std::nullopt, std::move(answer.refusal)};
  std::string text(api::find_string(*answer.status, "text"));
  answer.status->as_object().erase("text");
  return ServerText{
      flags.output == "json" ? explain::indented_json(*answer.status) : std::move(text), ""};
}

// The cluster, to plan here what the server does not explain.
Result<explain::Objects> read_to_plan(client::HttpsClient& client, bool needs_groups,
                                      const std::string& refusal) {
  Result<explain::Objects> objects = read_cluster(client, Reading::ForAttempts, needs_groups);
  if (objects || objects.error().reason != Reason::Forbidden || refusal.empty()) return objects;
  return fail(Reason::Forbidden,
              "the server may not explain it to you ({}). To plan it from here: {}", refusal,
              objects.error().message);
}

}  // namespace

Result<std::string> explain_from_cluster(const ExplainFlags& flags) {
  if (flags.output != "text" && flags.output != "json")
    return fail(Reason::BadRequest, "-o {}: an explanation comes as text or json", flags.output);
  // What is written is understood before a cluster is asked.
  TRY(subject_of(flags, "default"));
  client::HttpsClient client = TRY(connect(flags.cluster, "explain"));
  const std::string& of_context = client.config().name_space;
  const std::string name_space = !flags.name_space.empty() ? flags.name_space
                                 : !of_context.empty()     ? of_context
                                                           : "default";
  const explain::Subject subject = TRY(subject_of(flags, name_space));
  if (const auto* owner = std::get_if<explain::WorkloadOwner>(&subject))
    TRY(check_exists(client, *owner));
  // Flags say how a foreign scheduler decides; only then is the cluster read and planned here.
  ServerText said;
  if (flags.scheduler_config.empty() && flags.feature_gates.empty())
    said = TRY(explained_by_server(client, subject, flags));
  if (said.text) return *said.text;
  const bool is_group = !std::holds_alternative<explain::PodKey>(subject);
  const explain::Objects objects = TRY(read_to_plan(client, is_group, said.refusal));
  const Deciding deciding = TRY(how_it_decides(flags, client));
  const explain::Explanation explanation =
      TRY(explain::explain(objects, subject, deciding.profiles, {.gates = deciding.gates}));
  return flags.output == "json" ? explain::render_json(explanation)
                                : explain::render_text(explanation);
}

Result<std::string> overview_of_cluster(const ExplainFlags& flags, std::size_t width) {
  if (flags.output != "text" && flags.output != "json")
    return fail(Reason::BadRequest, "-o {}: an overview comes as text or json", flags.output);
  client::HttpsClient client = TRY(connect(flags.cluster, "explain"));
  const explain::Objects objects = TRY(read_cluster(client, Reading::ForAttempts));
  const Deciding deciding = TRY(how_it_decides(flags, client));
  const explain::Overview overview = explain::overview(
      objects, deciding.profiles, {.gates = deciding.gates, .name_space = flags.name_space});
  return flags.output == "json" ? explain::render_json(overview)
                                : explain::render_text(overview, width);
}

}  // namespace muster::app
