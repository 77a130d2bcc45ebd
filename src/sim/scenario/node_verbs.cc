#include "sim/scenario/node_verbs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/values/pretend.h"
#include "sim/scenario/node_line.h"

namespace muster::sim {
namespace {

using api::JsonObject;

// The names up to the last `keep` words.
Result<std::vector<std::string>> read_node_names(const Line& line, std::size_t keep) {
  std::vector<std::string> nodes;
  for (std::size_t at = 1; at + keep < line.words.size(); ++at) {
    if (at == 1 && (line.words[at] == "node" || line.words[at] == "nodes")) continue;
    for (std::string& name : TRY(expand_range(line, line.words[at])))
      nodes.push_back(std::move(name));
  }
  if (nodes.empty()) return fail_at(line, "`{}` names no node", line.text);
  return nodes;
}

template <typename Do>
Result<Action> for_nodes(const Line& line, std::size_t keep, const Do& act) {
  return [nodes = TRY(read_node_names(line, keep)), act](Stage& stage) -> Result<void> {
    for (const std::string& node : nodes) TRY(act(stage, node));
    return {};
  };
}

}  // namespace

// Lines of nodes below the verb, or one behind it.
Result<Action> read_add_nodes(const Line& line) {
  ClusterShape shape;
  if (line.words.size() > 1) TRY(read_nodes(line, Words(line, 1), shape));
  for (const Line& nodes : line.below) TRY(read_nodes(nodes, Words(nodes), shape));
  if (shape.nodes.empty()) return fail_at(line, "`{}` is followed by no nodes", line.text);
  return [shape](Stage& stage) -> Result<void> {
    stage.add_nodes(shape);
    return {};
  };
}

Result<Action> read_cordon(const Line& line) {
  const bool cordoned = line.words.front() == "cordon";
  return for_nodes(line, 0, [cordoned](Stage& stage, const std::string& node) {
    return stage.patch_node(node, JsonObject{{"spec", JsonObject{{"unschedulable", cordoned}}}});
  });
}

Result<Action> read_readiness(const Line& line) {
  const bool is_ready = line.words.front() == "ready";
  const api::Json value = is_ready ? api::Json(nullptr) : api::Json(api::kFailNotReady);
  return for_nodes(line, 0, [value](Stage& stage, const std::string& node) {
    return stage.patch_node(
        node, JsonObject{{"metadata",
                          JsonObject{{"annotations", JsonObject{{api::kFailAnnotation, value}}}}}});
  });
}

Result<Action> read_label(const Line& line) {
  const bool present = line.words.front() == "label";
  const Setting setting = read_setting(line.words.back());
  if (present && setting.name.empty()) return fail_at(line, "write label NODES KEY=VALUE");
  const std::string key = label_key(present ? setting.name : line.words.back());
  const api::Json value =
      present ? api::Json(std::string(setting.value)) : api::Json(nullptr);  // null removes it
  return for_nodes(line, 1, [key, value](Stage& stage, const std::string& node) {
    return stage.patch_node(
        node, JsonObject{{"metadata", JsonObject{{"labels", JsonObject{{key, value}}}}}});
  });
}

Result<Action> read_taint_verb(const Line& line) {
  const bool present = line.words.front() == "taint";
  const api::Json taint = present ? TRY(read_taint(line, line.words.back()))
                                  : api::Json(JsonObject{{"key", line.words.back()}});
  return for_nodes(line, 1, [taint, present](Stage& stage, const std::string& node) {
    return stage.set_taint(node, taint, present);
  });
}

Result<Action> read_remove(const Line& line) {
  return for_nodes(line, 0,
                   [](Stage& stage, const std::string& node) { return stage.remove_node(node); });
}

}  // namespace muster::sim
