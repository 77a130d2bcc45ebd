#include "api/json.h"
#include "explain/indented_json.h"
#include "explain/render.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

template <typename Items, typename Write>
JsonArray array_of(const Items& items, Write&& write) {
  JsonArray array;
  for (const auto& item : items) array.push_back(write(item));
  return array;
}

JsonObject level_json(const Level& level) {
  JsonObject out{{"kind", kind_word(level.key.kind)},
                 {"name", level.key.name},
                 {"depth", level.depth},
                 {"state", state_name(level.state)},
                 {"policy", level.gang ? "gang" : "basic"},
                 {"minimum", level.minimum},
                 {"total", level.total},
                 {"scheduled", level.scheduled},
                 {"waiting", level.waiting},
                 {"gated", level.gated},
                 {"lost", level.lost}};
  if (!level.topology_key.empty()) out["topologyKey"] = level.topology_key;
  if (!level.generators.empty())
    out["placementGenerators"] =
        array_of(level.generators, [](const std::string& name) { return api::Json(name); });
  if (!level.domain.empty()) out["domain"] = level.domain;
  if (!level.why.empty()) out["why"] = level.why;
  if (level.is_subject) out["subject"] = true;
  if (level.closest.empty()) return out;
  out["domains"] = level.domains;
  out["closest"] = array_of(level.closest, [](const Closeness& close) {
    return JsonObject{{"domain", close.domain}, {"fits", close.fits}, {"needed", close.needed}};
  });
  return out;
}

JsonObject reasons_json(const NodeReasons& reasons) {
  return {{"sample", reasons.sample},
          {"asksFor", reasons.asks_for},
          {"pods", reasons.pods},
          {"where", reasons.where},
          {"nodes", reasons.nodes},
          {"accept", reasons.accept},
          {"refusals", array_of(reasons.refusals, [](const auto& refusal) {
             return JsonObject{{"reason", refusal.first}, {"nodes", refusal.second}};
           })}};
}

JsonObject relaxation_json(const Relaxation& relaxation) {
  JsonObject out{{"kind", relaxation_name(relaxation.kind)}, {"sentence", relaxation.sentence}};
  if (!relaxation.command.empty()) out["command"] = relaxation.command;
  if (relaxation.amount > 0) out["amount"] = relaxation.amount;
  if (!relaxation.domain.empty()) out["domain"] = relaxation.domain;
  return out;
}

}  // namespace

api::JsonObject explanation_json(const Explanation& about) {
  JsonObject out{{"kind", about.kind},
                 {"namespace", about.name_space},
                 {"name", about.name},
                 {"state", state_name(about.state)},
                 {"sentence", about.sentence}};
  if (!about.proof.empty()) out["proof"] = about.proof;
  if (!about.evictions.empty()) out["evictions"] = about.evictions;
  if (!about.no_such_label.empty())
    out["noSuchLabel"] = JsonArray(about.no_such_label.begin(), about.no_such_label.end());
  if (!about.note.empty()) out["note"] = about.note;
  if (!about.ahead.empty())
    out["ahead"] = array_of(about.ahead, [](const std::string& name) { return Json(name); });
  if (about.owner)
    out["owner"] = JsonObject{{"kind", about.owner->kind},
                              {"name", about.owner->name},
                              {"groups", about.owner->groups},
                              {"scheduled", about.owner->scheduled},
                              {"leftOut", about.owner->left_out}};
  out["tree"] = array_of(about.tree, level_json);
  out["nodes"] = array_of(about.reasons, reasons_json);
  out["placements"] = array_of(about.placements, [](const Placement& placement) {
    return JsonObject{{"node", placement.node}, {"pods", placement.pods}};
  });
  if (about.tried_relaxations) {
    out["relaxations"] = array_of(about.relaxations, relaxation_json);
    out["allRelaxationsTried"] = about.all_tried;
  }
  out["steps"] = about.steps;
  return out;
}

std::string render_json(const Explanation& about) { return indented_json(explanation_json(about)); }

}  // namespace muster::explain
