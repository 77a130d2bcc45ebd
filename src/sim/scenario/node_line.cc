#include "sim/scenario/node_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/values/quantity.h"
#include "sim/node_labels.h"

namespace muster::sim {
namespace {

using api::JsonArray;
using api::JsonObject;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLevels{
    {{"zone", kZoneLabel}, {"block", kBlockLabel}, {"rack", kRackLabel}, {"host", kHostnameLabel}}};

constexpr std::string_view kNodeWords =
    "zone NAME, block NAME, rack NAME, nodes NAMES, cordoned, label=KEY=VALUE, "
    "taint=KEY[=VALUE]:EFFECT, image=NAME:TAG=SIZE, feature=NAME, or a resource such as cpu=4";

bool is_level(std::string_view word) { return word == "zone" || word == "block" || word == "rack"; }

struct NodeFacts {
  JsonObject labels;
  JsonObject amounts;
  JsonArray taints;
  JsonArray images;
  JsonArray features;
  bool cordoned = false;
  std::vector<std::string> names;
};

// "trainer:v1=800Mi": an image that the node has, and how large it is.
Result<api::Json> read_image(const Line& line, std::string_view text) {
  const Setting image = read_setting(text);
  const auto size = api::Quantity::parse(image.value);
  if (image.name.find(':') == std::string_view::npos || !size)
    return fail_at(line, "image={}: write image=NAME:TAG=SIZE, such as image=app:v1=800Mi", text);
  return JsonObject{{"names", JsonArray{image.name}}, {"sizeBytes", size->value()}};
}

Result<void> read_node_setting(const Line& line, std::string_view word, NodeFacts& facts) {
  const Setting setting = read_setting(word);
  if (setting.name == "label") {
    const Setting label = read_setting(setting.value);
    if (label.name.empty()) return fail_at(line, "{}: write label=KEY=VALUE", word);
    facts.labels[label_key(label.name)] = label.value;
    return {};
  }
  if (setting.name == "taint") {
    facts.taints.push_back(TRY(read_taint(line, setting.value)));
    return {};
  }
  if (setting.name == "image") {
    facts.images.push_back(TRY(read_image(line, setting.value)));
    return {};
  }
  if (setting.name == "feature") {
    facts.features.push_back(api::Json(setting.value));
    return {};
  }
  const std::string resource = setting.name == "pods" ? "pods" : resource_name(setting.name);
  if (resource.empty())
    return fail_at(line, "unknown word `{}` about nodes; there are {}", word, kNodeWords);
  if (!api::Quantity::parse(setting.value))
    return fail_at(line, "{}: {} is no amount such as 8, 500m or 64Gi", word, setting.value);
  facts.amounts[resource] = setting.value;
  return {};
}

api::Json node_manifest(const std::string& name, const NodeFacts& facts) {
  JsonObject labels = facts.labels;
  JsonObject spec;
  if (!facts.taints.empty()) spec["taints"] = facts.taints;
  if (facts.cordoned) spec["unschedulable"] = true;
  JsonObject status{{"allocatable", facts.amounts}};
  if (!facts.images.empty()) status["images"] = facts.images;
  if (!facts.features.empty()) status["declaredFeatures"] = facts.features;
  return JsonObject{{"metadata", JsonObject{{"name", name}, {"labels", std::move(labels)}}},
                    {"spec", std::move(spec)},
                    {"status", std::move(status)}};
}

}  // namespace

std::string label_key(std::string_view word) {
  const auto* const level = std::ranges::find(kLevels, word, &decltype(kLevels)::value_type::first);
  return std::string(level == kLevels.end() ? word : level->second);
}

std::string level_word(std::string_view key) {
  const auto* const level = std::ranges::find(kLevels, key, &decltype(kLevels)::value_type::second);
  return std::string(level == kLevels.end() ? key : level->first);
}

std::string resource_name(std::string_view word) {
  if (word == "gpu") return "nvidia.com/gpu";
  if (word == "cpu" || word == "memory" || word == "ephemeral-storage" ||
      word.find('/') != std::string_view::npos)
    return std::string(word);
  return {};
}

Result<std::vector<std::string>> expand_range(const Line& line, std::string_view pattern) {
  const std::size_t open = pattern.find('[');
  if (open == std::string_view::npos) return std::vector<std::string>{std::string(pattern)};
  const std::size_t dots = pattern.find("..", open);
  const std::size_t close = pattern.find(']', open);
  if (dots == std::string_view::npos || close == std::string_view::npos || close < dots)
    return fail_at(line, "{} is no range of names: write n[1..4]", pattern);
  const int first = TRY(read_number(line, pattern.substr(open + 1, dots - open - 1)));
  const int last = TRY(read_number(line, pattern.substr(dots + 2, close - dots - 2)));
  if (last < first || last - first > 10'000)
    return fail_at(line, "{} is no range of at most 10000 names", pattern);
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i)
    names.push_back(fmt::format("{}{}{}", pattern.substr(0, open), i, pattern.substr(close + 1)));
  return names;
}

Result<api::Json> read_taint(const Line& line, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return fail_at(line, "{} is no taint: write KEY:NoSchedule or KEY=VALUE:NoSchedule", text);
  const std::string_view effect = text.substr(colon + 1);
  if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
    return fail_at(line, "{} is no effect: NoSchedule, PreferNoSchedule or NoExecute", effect);
  JsonObject taint{{"effect", effect}};
  const Setting pair = read_setting(text.substr(0, colon));
  taint["key"] = pair.name.empty() ? text.substr(0, colon) : pair.name;
  if (!pair.name.empty()) taint["value"] = pair.value;
  return taint;
}

Result<void> read_nodes(const Line& line, Words words, ClusterShape& shape) {
  NodeFacts facts;
  facts.amounts["pods"] = "110";
  while (!words.done()) {
    const std::string word(words.next());
    if (is_level(word)) {
      facts.labels[label_key(word)] = TRY(words.need("a name"));
    } else if (word == "nodes" || word == "node") {
      while (!words.done() && words.peek().find('=') == std::string_view::npos &&
             !is_level(words.peek()) && words.peek() != "cordoned") {
        const std::vector<std::string> names = TRY(expand_range(line, words.next()));
        facts.names.insert(facts.names.end(), names.begin(), names.end());
      }
    } else if (word == "cordoned") {
      facts.cordoned = true;
    } else {
      TRY(read_node_setting(line, word, facts));
    }
  }
  if (facts.names.empty())
    return fail_at(line, "`{}` names no node: write nodes a-[1..4]", line.text);
  for (const std::string& name : facts.names) shape.nodes.push_back(node_manifest(name, facts));
  return {};
}

}  // namespace muster::sim
