#include "sim/cluster_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "api/values/pretend.h"
#include "api/values/quantity.h"
#include "api/yaml.h"
#include "sim/node_labels.h"

namespace muster::sim {
namespace {

using api::find;
using api::Json;
using api::JsonArray;
using api::JsonObject;

using Resources = std::vector<std::pair<std::string, std::string>>;

Result<void> check_quantity(std::string_view name, std::string_view text) {
  const Result<api::Quantity> quantity = api::Quantity::parse(text);
  if (!quantity)
    return fail(Reason::Invalid, "{} is no amount of {}: write a quantity such as 8, 500m or 128Gi",
                text, name);
  if (*quantity < api::Quantity{})
    return fail(Reason::Invalid, "{} of {} is negative: a node cannot have less than nothing", text,
                name);
  return {};
}

// A member that must be a whole number of at least 1, if it is there at all.
Result<void> read_count(const Json& pool, std::string_view member, int& out) {
  const Json* value = find(pool, member);
  if (value == nullptr) return {};
  if (!value->is_int64() || value->as_int64() < 1 ||
      value->as_int64() > std::numeric_limits<int>::max())
    return fail(Reason::Invalid, "{} must be a whole number of at least 1, not {}", member,
                api::to_text(*value));
  out = static_cast<int>(value->as_int64());
  return {};
}

Result<Resources> read_resources(const Json& value) {
  if (!value.is_object())
    return fail(Reason::Invalid, "resources must be a map such as {{cpu: 32, memory: 128Gi}}");
  Resources resources;
  for (const auto& [name, amount] : value.as_object()) {
    const std::string text =
        amount.is_string() ? std::string(amount.as_string()) : api::to_text(amount);
    TRY(check_quantity(name, text));
    resources.emplace_back(name, text);
  }
  return resources;
}

Result<NodePool> read_pool(const Json& value) {
  constexpr std::string_view kMembers[] = {"prefix",        "zones",        "blocksPerZone",
                                           "racksPerBlock", "nodesPerRack", "resources",
                                           "labels",        "taints"};
  if (!value.is_object())
    return fail(Reason::Invalid, "a pool must be a map, not {}", api::to_text(value));
  for (const auto& [member, unused] : value.as_object())
    if (std::ranges::find(kMembers, std::string_view(member)) == std::end(kMembers))
      return fail(Reason::Invalid, "a pool has no member {}; it may have {}",
                  std::string_view(member), fmt::join(kMembers, ", "));
  NodePool pool;
  pool.prefix = api::find_string(value, "prefix");
  TRY(read_count(value, "zones", pool.zones));
  TRY(read_count(value, "blocksPerZone", pool.blocks_per_zone));
  TRY(read_count(value, "racksPerBlock", pool.racks_per_block));
  TRY(read_count(value, "nodesPerRack", pool.nodes_per_rack));
  if (const Json* resources = find(value, "resources"))
    pool.resources = TRY(read_resources(*resources));
  if (const JsonObject* labels = api::find_object(value, "labels")) pool.labels = *labels;
  if (const JsonArray* taints = api::find_array(value, "taints")) pool.taints = *taints;
  return pool;
}

Result<void> read_document(const Json& document, ClusterShape& shape) {
  if (api::find_string(document, "kind") == "Node") {
    if (const Json* metadata = find(document, "metadata");
        metadata == nullptr || api::find_string(*metadata, "name").empty())
      return fail(Reason::Invalid, "a Node needs metadata.name");
    shape.nodes.push_back(document);
    return {};
  }
  const JsonArray* pools = api::find_array(document, "pools");
  if (pools == nullptr) return fail(Reason::Invalid, "it has neither `pools:` nor `kind: Node`");
  for (std::size_t i = 0; i < pools->size(); ++i) {
    Result<NodePool> pool = read_pool((*pools)[i]);
    if (!pool) return fail(Reason::Invalid, "pools[{}]: {}", i, pool.error().message);
    shape.pools.push_back(std::move(*pool));
  }
  return {};
}

// Two nodes of one name would become one.
Result<void> check_names(const ClusterShape& shape) {
  std::set<std::string, std::less<>> prefixes;
  for (const NodePool& pool : shape.pools)
    if (!prefixes.insert(pool.prefix).second)
      return fail(Reason::Invalid,
                  "two pools have {}, so their nodes would have the same names: give each pool a "
                  "`prefix:` of its own",
                  pool.prefix.empty() ? "no prefix" : "the prefix " + pool.prefix);
  std::set<std::string, std::less<>> names;
  for (const Json& node : node_documents(shape))
    if (const std::string_view name = api::find_string(*find(node, "metadata"), "name");
        !names.emplace(name).second)
      return fail(Reason::Invalid, "two nodes have the name {}", name);
  return {};
}

std::size_t pool_size(const NodePool& pool) {
  std::size_t count = 1;
  for (const int factor :
       {pool.zones, pool.blocks_per_zone, pool.racks_per_block, pool.nodes_per_rack})
    count = std::min(count * static_cast<std::size_t>(factor), kNodesMax + 1);
  return count;
}

struct Place {
  std::string zone, block, rack, name;
};

// What a Node must carry to be played by PretendNodes.
void mark_pretend(JsonObject& node) {
  JsonObject& metadata = api::ensure_object(node, "metadata");
  api::ensure_object(metadata, "annotations")[api::kPretendAnnotation] = api::kPretendValue;
  JsonObject& labels = api::ensure_object(metadata, "labels");
  add_node_labels(labels, metadata.at("name").as_string());
}

Json pool_node(const NodePool& pool, const Place& place) {
  JsonObject labels = pool.labels;
  labels[kZoneLabel] = place.zone;
  labels[kBlockLabel] = place.block;
  labels[kRackLabel] = place.rack;
  JsonObject amounts;
  for (const auto& [name, amount] : pool.resources) amounts[name] = amount;
  if (!amounts.contains("pods")) amounts["pods"] = "110";

  JsonObject node;
  node["metadata"] = JsonObject{{"name", place.name}, {"labels", std::move(labels)}};
  JsonObject spec;
  if (!pool.taints.empty()) spec["taints"] = pool.taints;
  node["spec"] = std::move(spec);
  node["status"] = JsonObject{{"capacity", amounts}, {"allocatable", amounts}};
  return node;
}

}  // namespace

std::size_t ClusterShape::node_count() const {
  std::size_t count = nodes.size();
  for (const NodePool& pool : pools) count += pool_size(pool);
  return count;
}

Result<Resources> parse_resources(std::string_view text) {
  Resources resources;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == item.size())
      return fail(Reason::Invalid,
                  "\"{}\" is no resource: write NAME=AMOUNT, e.g. cpu=32,memory=128Gi", item);
    const std::string_view name = item.substr(0, equals);
    const std::string_view amount = item.substr(equals + 1);
    TRY(check_quantity(name, amount));
    resources.emplace_back(name, amount);
  }
  return resources;
}

Result<ClusterShape> parse_cluster_file(std::string_view text) {
  ClusterShape shape;
  const std::vector<std::string_view> documents = api::split_yaml_documents(text);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Result<api::ParsedJson> parsed = api::parse_yaml(documents[i]);
    if (!parsed) return fail(Reason::Invalid, "document {}: {}", i + 1, parsed.error().message);
    if (const Result<void> read = read_document(parsed->value, shape); !read)
      return fail(Reason::Invalid, "document {}: {}", i + 1, read.error().message);
  }
  if (shape.node_count() == 0) return fail(Reason::Invalid, "it describes no node");
  if (shape.node_count() > kNodesMax)
    return fail(Reason::Invalid, "it describes more than {} nodes", kNodesMax);
  TRY(check_names(shape));
  return shape;
}

std::vector<Json> node_documents(const ClusterShape& shape) {
  std::vector<Json> documents;
  documents.reserve(shape.node_count());
  for (const NodePool& pool : shape.pools)
    for (int zone = 1; zone <= pool.zones; ++zone)
      for (int block = 1; block <= pool.blocks_per_zone; ++block)
        for (int rack = 1; rack <= pool.racks_per_block; ++rack)
          for (int node = 1; node <= pool.nodes_per_rack; ++node) {
            Place place;
            place.zone = fmt::format("{}z{}", pool.prefix, zone);
            place.block = fmt::format("{}-b{}", place.zone, block);
            place.rack = fmt::format("{}-r{}", place.block, rack);
            place.name = fmt::format("{}-n{}", place.rack, node);
            documents.push_back(pool_node(pool, place));
          }
  documents.insert(documents.end(), shape.nodes.begin(), shape.nodes.end());
  for (Json& document : documents) mark_pretend(document.as_object());
  return documents;
}

}  // namespace muster::sim
