#include "scheduler/config/profile_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "scheduler/config/args_reader.h"
#include "scheduler/plugins/plugin_registry.h"

namespace muster::scheduler {
namespace {

using api::elements;
using api::FieldPath;
using api::find_integer;
using api::find_string;
using api::Json;
using api::part_of;

constexpr std::string_view kAll = "*";
// Totals of scores are 32-bit numbers.
constexpr std::int64_t kTotalMax = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int64_t kScoreMax = 100;

struct Enabled {
  const RegisteredPlugin* plugin;
  std::int64_t weight = 0;  // 0: not said
};

// What a profile says of one extension point, or of multiPoint.
struct Wishes {
  std::vector<Enabled> enabled;
  std::set<std::string_view> disabled;

  bool disables(const RegisteredPlugin& plugin) const {
    return !plugin.is_permanent && (disabled.contains(kAll) || disabled.contains(plugin.name));
  }
  const Enabled* find(const RegisteredPlugin& plugin) const {
    const auto at = std::ranges::find(enabled, &plugin, &Enabled::plugin);
    return at == enabled.end() ? nullptr : &*at;
  }
};

std::string known_names() {
  std::vector<std::string_view> names;
  for (const RegisteredPlugin& plugin : plugin_registry()) names.push_back(plugin.name);
  std::ranges::sort(names);
  return fmt::format("known plugins: {}", fmt::join(names, ", "));
}

class ProfileBuilder {
 public:
  ProfileBuilder(const Json& profile, const FieldPath& path, const std::string& scheduler_name,
                 ConfigErrors& errors)
      : document_(profile), path_(path), scheduler_name_(scheduler_name), errors_(errors) {}

  Profile build() {
    read_args();
    const FieldPath plugins = path_.child("plugins");
    const Json& said = part_of(document_, "plugins");
    const Wishes everywhere = read(part_of(said, "multiPoint"), plugins.child("multiPoint"), {});
    multi_point_ = with_defaults(everywhere);
    for (const RegisteredPlugin& plugin : plugin_registry())
      made_.emplace(&plugin, plugin.make(args_));
    Profile profile;
    for (std::size_t i = 0; i < kExtensionPoints; ++i) {
      const auto point = static_cast<ExtensionPoint>(i);
      const std::string_view name = point_name(point);
      file(point, read(part_of(said, name), plugins.child(name), point), plugins.child(name),
           profile);
    }
    ProfileSettings settings;
    settings.preemption = args_.preemption;
    settings.ignored = args_.fit.ignored;
    if (profile.runs("PodTopologySpread", ExtensionPoint::Score) ||
        profile.runs("PodTopologySpread", ExtensionPoint::Filter))
      settings.default_spread_keys = args_.spread.default_keys();
    settings.node_labels = args_.node_affinity.label_keys();
    profile.set(std::move(settings));
    return profile;
  }

 private:
  void read_args() {
    std::set<std::string_view> seen;
    const FieldPath list = path_.child("pluginConfig");
    for (std::size_t i = 0; const Json& item : elements(document_, "pluginConfig")) {
      const FieldPath path = list.index(i++);
      const std::string_view name = find_string(item, "name");
      if (!seen.insert(name).second) errors_.fields().duplicate(path, name);
      if (find_known(name, path.child("name")) == nullptr) continue;
      if (const Json* args = api::find_set(item, "args"))
        read_plugin_args(name, *args, path.child("args"), args_, errors_);
    }
  }

  const RegisteredPlugin* find_known(std::string_view name, const FieldPath& path) {
    const RegisteredPlugin* plugin = find_plugin(name);
    if (plugin == nullptr) errors_.fields().not_found(path, name, known_names());
    return plugin;
  }

  // `point` is nullopt for multiPoint.
  Wishes read(const Json& set, const FieldPath& path, std::optional<ExtensionPoint> point) {
    Wishes wishes;
    const FieldPath disabled = path.child("disabled");
    for (std::size_t i = 0; const Json& item : elements(set, "disabled")) {
      const FieldPath at = disabled.index(i++);
      const std::string_view name = find_string(item, "name");
      wishes.disabled.insert(name);
      if (name == kAll) continue;
      const RegisteredPlugin* plugin = find_known(name, at.child("name"));
      if (plugin != nullptr && plugin->is_permanent)
        errors_.fields().forbidden(
            at.child("name"),
            fmt::format("{} cannot be disabled: what pods and groups ask for would be ignored",
                        name));
    }
    const FieldPath enabled = path.child("enabled");
    for (std::size_t i = 0; const Json& item : elements(set, "enabled"))
      read_enabled(item, enabled.index(i++), point, wishes);
    return wishes;
  }

  void read_enabled(const Json& item, const FieldPath& at, std::optional<ExtensionPoint> point,
                    Wishes& wishes) {
    const std::string_view name = find_string(item, "name");
    const RegisteredPlugin* plugin = find_known(name, at.child("name"));
    if (plugin == nullptr) return;
    if (wishes.find(*plugin) != nullptr) return errors_.fields().duplicate(at.child("name"), name);
    if (point && !plugin->make(PluginArgs{}).points.contains(*point))
      errors_.fields().invalid(
          at.child("name"), name,
          fmt::format("plugin \"{}\" does not extend {} plugin", name, point_name(*point)));
    const std::int64_t weight = find_integer(item, "weight").value_or(0);
    if (weight < 0)
      errors_.fields().invalid(at.child("weight"), weight, "must be greater than or equal to 0");
    wishes.enabled.push_back({plugin, weight});
  }

  // The default plugins as multiPoint changes them: an entry replaces the default of its name in
  // place, others come last.
  static std::vector<Enabled> with_defaults(const Wishes& wishes) {
    std::vector<Enabled> all;
    for (const RegisteredPlugin& plugin : plugin_registry()) {
      const Enabled* changed = wishes.find(plugin);
      if (!wishes.disables(plugin))
        all.push_back(changed != nullptr ? *changed : Enabled{&plugin, plugin.weight});
    }
    for (const Enabled& one : wishes.enabled)
      if (std::ranges::find(all, one.plugin, &Enabled::plugin) == all.end()) all.push_back(one);
    return all;
  }

  // Who runs at a point, in order: those of multiPoint that the point names too, in the point's
  // order; the other ones of multiPoint; the other ones of the point.
  std::vector<Enabled> ordered(ExtensionPoint point, const Wishes& wishes) const {
    const auto is_multi = [&](const RegisteredPlugin& plugin) {
      return !wishes.disables(plugin) && made_.at(&plugin).points.contains(point) &&
             std::ranges::find(multi_point_, &plugin, &Enabled::plugin) != multi_point_.end();
    };
    std::vector<Enabled> out;
    for (const Enabled& one : wishes.enabled)
      if (is_multi(*one.plugin)) out.push_back(one);
    for (const Enabled& one : multi_point_)
      if (is_multi(*one.plugin) && wishes.find(*one.plugin) == nullptr) out.push_back(one);
    for (const Enabled& one : wishes.enabled)
      if (!is_multi(*one.plugin)) out.push_back(one);
    return out;
  }

  void file(ExtensionPoint point, const Wishes& wishes, const FieldPath& path, Profile& profile) {
    const std::vector<Enabled> running = ordered(point, wishes);
    std::int64_t total = 0;
    for (const Enabled& one : running) {
      const std::int64_t weight = std::max<std::int64_t>(one.weight, 1);
      total += weight * kScoreMax;
      profile.add(made_.at(one.plugin), {point}, weight);
    }
    const bool is_weighed =
        point == ExtensionPoint::Score || point == ExtensionPoint::PlacementScore;
    if (is_weighed && total > kTotalMax)
      errors_.fields().invalid(path, fmt::format("total score of Score plugins could overflow: the "
                                                 "sum of all weights may be at most {}",
                                                 kTotalMax / kScoreMax));
    check(point, running, path);
  }

  // What no profile can be without. Without Fit nodes would be overcommitted, and bounds that count
  // free amounts would be wrong.
  void check(ExtensionPoint point, const std::vector<Enabled>& running, const FieldPath& path) {
    if (point == ExtensionPoint::QueueSort && running.size() != 1)
      errors_.fields().invalid(
          path, fmt::format("only one queue sort plugin required for profile with scheduler name "
                            "\"{}\", but got {}",
                            scheduler_name_, running.size()));
    if (point == ExtensionPoint::Filter && std::ranges::none_of(running, [](const Enabled& one) {
          return one.plugin->name == "NodeResourcesFit";
        }))
      errors_.fields().forbidden(
          path, "NodeResourcesFit cannot be disabled at filter: nodes would be overcommitted");
    if (point == ExtensionPoint::Bind && running.empty())
      errors_.fields().invalid(
          path, fmt::format("at least one bind plugin is needed for profile with scheduler name "
                            "\"{}\"",
                            scheduler_name_));
  }

  const Json& document_;
  const FieldPath& path_;
  const std::string& scheduler_name_;
  ConfigErrors& errors_;
  PluginArgs args_;
  std::vector<Enabled> multi_point_;
  std::map<const RegisteredPlugin*, Plugin> made_;
};

}  // namespace

Profile build_profile(const Json& profile, const FieldPath& path, const std::string& scheduler_name,
                      ConfigErrors& errors) {
  return ProfileBuilder(profile, path, scheduler_name, errors).build();
}

}  // namespace muster::scheduler
