#include "scheduler/config/scheduler_config.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "api/decode.h"
#include "api/reading.h"
#include "api/schema/schema.h"
#include "api/values/go_duration.h"
#include "api/values/names.h"
#include "api/yaml.h"
#include "scheduler/config/config_errors.h"
#include "scheduler/config/profile_builder.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

using api::elements;
using api::FieldPath;
using api::find_integer;
using api::find_set;
using api::find_string;
using api::Json;
using api::part_of;

constexpr std::string_view kVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
// Backoffs are counted in nanoseconds.
constexpr std::int64_t kBackoffMax = 365LL * 24 * 3600;
// Each has plugins of its own, and every class of pods is kept per profile.
constexpr std::size_t kProfilesMax = 100;

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text), errors_(text) {}

  Result<SchedulerConfig> read() {
    api::ParsedJson parsed = TRY(api::parse_yaml(text_));
    check_type(parsed.value);
    refuse_extenders(parsed.value);
    if (!errors_.empty()) return errors_.fail();
    std::string wrong_at;
    Result<api::Decoded> decoded =
        api::decode(api::schema::message("kubescheduler/v1", kKind), std::move(parsed), wrong_at);
    if (!decoded) {
      errors_.add(wrong_at, fmt::format("{}: {}", kKind, decoded.error().message));
      return errors_.fail();
    }
    report_unknown(decoded->unknown);
    SchedulerConfig config = read_document(decoded->document);
    if (!errors_.empty()) return errors_.fail();
    return config;
  }

 private:
  void check_type(const Json& document) {
    const std::string_view version = find_string(document, "apiVersion");
    const std::string_view kind = find_string(document, "kind");
    if (kind.empty()) errors_.add("", "Object 'Kind' is missing");
    if (version.empty()) errors_.add("", "Object 'apiVersion' is missing");
    if (!kind.empty() && !version.empty() && (kind != kKind || version != kVersion))
      errors_.add("apiVersion",
                  fmt::format("no kind \"{}\" is registered for version \"{}\"; write kind {}, "
                              "apiVersion {}",
                              kind, version, kKind, kVersion));
  }

  void refuse_extenders(const Json& document) {
    const Json* said = find_set(document, "extenders");
    if (said == nullptr || (said->is_array() && said->get_array().empty())) return;
    const FieldPath path("extenders");
    errors_.fields().forbidden(
        path,
        "extenders are not supported: a decision would wait for another server; write a "
        "plugin instead (docs/plugins.md)");
  }

  void report_unknown(const std::vector<std::string>& unknown) {
    for (const std::string& sentence : unknown) {
      const std::size_t quote = sentence.find('"');
      const std::size_t end = sentence.rfind('"');
      errors_.add(quote < end ? sentence.substr(quote + 1, end - quote - 1) : std::string(),
                  "strict decoding error: " + sentence);
    }
  }

  SchedulerConfig read_document(const Json& document) {
    SchedulerConfig config;
    const FieldPath parallelism("parallelism");
    if (const auto workers = find_integer(document, "parallelism"); workers && *workers <= 0)
      errors_.fields().invalid(parallelism, *workers,
                               "should be an integer value greater than zero");
    const FieldPath nodes("percentageOfNodesToScore");
    check_percentage(document, nodes, "percentageOfNodesToScore");
    const FieldPath placements("percentageOfPlacementsToScore");
    const auto share = check_percentage(document, placements, "percentageOfPlacementsToScore");
    check_connection(document);
    read_backoff(document, config);
    read_profiles(document, share, config);
    return config;
  }

  std::optional<std::int32_t> check_percentage(const Json& owner, const FieldPath& path,
                                               std::string_view member) {
    const auto share = find_integer(owner, member);
    if (!share) return std::nullopt;
    if (*share < 0 || *share > 100)
      errors_.fields().invalid(path, *share, "not in valid range [0-100]");
    return static_cast<std::int32_t>(*share);
  }

  // The program that connects to a server reads these. They are judged here too, because a file
  // with a mistake in them is refused where it is read, with its line.
  void check_connection(const Json& document) {
    const FieldPath election("leaderElection");
    const Json& lease = part_of(document, "leaderElection");
    for (const std::string_view field : {"leaseDuration", "renewDeadline", "retryPeriod"})
      if (const Json* said = find_set(lease, field);
          said != nullptr && !api::parse_go_duration(api::text_of(*said)))
        errors_.fields().invalid(election.child(field), api::text_of(*said),
                                 "must be a length of time such as 15s");
    const FieldPath connection("clientConnection");
    if (const Json* rate = find_set(part_of(document, "clientConnection"), "qps");
        rate != nullptr && !rate->is_number())
      errors_.fields().invalid(connection.child("qps"), *rate, "must be a number");
  }

  void read_backoff(const Json& document, SchedulerConfig& config) {
    const FieldPath first("podInitialBackoffSeconds");
    const FieldPath most("podMaxBackoffSeconds");
    const std::int64_t initial = find_integer(document, "podInitialBackoffSeconds").value_or(1);
    const std::int64_t max = find_integer(document, "podMaxBackoffSeconds").value_or(10);
    if (initial <= 0) errors_.fields().invalid(first, initial, "must be greater than 0");
    if (max < initial)
      errors_.fields().invalid(most, max,
                               "must be greater than or equal to PodInitialBackoffSeconds");
    if (max > kBackoffMax)
      errors_.fields().invalid(most, max, "must be less than or equal to 31536000");
    if (!errors_.empty()) return;
    config.initial_backoff = std::chrono::seconds{initial};
    config.max_backoff = std::chrono::seconds{max};
  }

  void read_profiles(const Json& document, std::optional<std::int32_t> placements,
                     SchedulerConfig& config) {
    const FieldPath list("profiles");
    const api::JsonArray& profiles = elements(document, "profiles");
    if (profiles.size() > kProfilesMax)
      return errors_.fields().too_many(list, profiles.size(), kProfilesMax);
    std::optional<Profiles> read;
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      const FieldPath path = list.index(i);
      const std::string name = scheduler_name(profiles[i], profiles.size(), path);
      if (const auto [first, is_new] = seen.emplace(name, i); !is_new)
        errors_.fields().duplicate(path.child("schedulerName"),
                                   fmt::format("profiles[{}].schedulerName", first->second));
      check_percentage(profiles[i], path.child("percentageOfNodesToScore"),
                       "percentageOfNodesToScore");
      Profile profile = build_profile(profiles[i], path, name, errors_);
      ProfileSettings settings = profile.settings();
      const auto own = check_percentage(profiles[i], path.child("percentageOfPlacementsToScore"),
                                        "percentageOfPlacementsToScore");
      settings.placements_percentage = own ? own : placements;
      profile.set(settings);
      if (read)
        read->add(name, std::move(profile));
      else
        read.emplace(name, std::move(profile));
    }
    if (!read) {  // no profiles: the default one
      Profile profile = default_profile();
      ProfileSettings settings = profile.settings();
      settings.placements_percentage = placements;
      profile.set(settings);
      read.emplace(std::move(profile));
    }
    config.profiles = std::move(*read);
  }

  // A single profile without a name has the usual one.
  std::string scheduler_name(const Json& profile, std::size_t profiles, const FieldPath& path) {
    const bool is_said = find_set(profile, "schedulerName") != nullptr;
    std::string name(find_string(profile, "schedulerName"));
    if (!is_said && profiles == 1) return std::string(kDefaultSchedulerName);
    if (name.empty()) errors_.fields().required(path.child("schedulerName"));
    return name;
  }

  std::string_view text_;
  ConfigErrors errors_;
};

}  // namespace

Result<SchedulerConfig> read_scheduler_config(std::string_view text) {
  return ConfigReader(text).read();
}

// The weight makes one device of a hundred on a node count more than all other scores together;
// those decide between nodes that are used alike.
Result<std::string> packing_config(std::string_view resource) {
  if (const api::Messages wrong = api::check_qualified_name(resource); !wrong.empty())
    return fail(Reason::Invalid, "\"{}\" is no name of a resource: {}", resource, wrong.front());
  return fmt::format(R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesFit
        weight: 2000
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: {}
          weight: 1
)",
                     resource);
}

}  // namespace muster::scheduler
