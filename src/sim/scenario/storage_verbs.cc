#include "sim/scenario/storage_verbs.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/views/volume_views.h"
#include "sim/scenario/node_line.h"

namespace muster::sim {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

// The driver of every class that makes volumes.
constexpr std::string_view kDriver = "pretend.example.com";

struct Made {
  const api::Kind* kind;
  std::string name_space;
  Json document;
};

// The words behind the name, as settings; a word alone is set to itself.
Result<std::map<std::string, std::string>> read_settings(const Line& line, Words words,
                                                         std::string_view allowed) {
  std::map<std::string, std::string> settings;
  while (!words.done()) {
    const std::string word(words.next());
    const Setting setting = read_setting(word);
    const std::string name(setting.name.empty() ? std::string_view(word) : setting.name);
    if (fmt::format(" {} ", allowed).find(fmt::format(" {} ", name)) == std::string::npos)
      return fail_at(line, "unknown word `{}`; there are {}", word, allowed);
    settings[name] = setting.name.empty() ? word : std::string(setting.value);
  }
  return settings;
}

Result<Made> read_class(const Line& line, const std::string& name, Words words) {
  auto settings = TRY(read_settings(line, words, "waits manual default"));
  JsonObject metadata{{"name", name}};
  if (settings.contains("default"))
    metadata["annotations"] = JsonObject{{"storageclass.kubernetes.io/is-default-class", "true"}};
  return Made{&api::kinds::storage_class(), "",
              JsonObject{{"metadata", std::move(metadata)},
                         {"provisioner", settings.contains("manual")
                                             ? std::string_view("kubernetes.io/no-provisioner")
                                             : kDriver},
                         {"volumeBindingMode",
                          settings.contains("waits") ? "WaitForFirstConsumer" : "Immediate"}}};
}

Result<Made> read_volume(const Line& line, const std::string& name, Words words) {
  auto settings = TRY(read_settings(line, words, "class size host zone zone-label"));
  JsonObject metadata{{"name", name}};
  if (settings.contains("zone-label"))
    metadata["labels"] = JsonObject{{label_key("zone"), settings["zone-label"]}};
  JsonObject spec{
      {"storageClassName", settings["class"]},
      {"capacity", JsonObject{{"storage", settings.contains("size") ? settings["size"] : "1Gi"}}},
      {"accessModes", JsonArray{"ReadWriteOnce"}},
      {"persistentVolumeReclaimPolicy", "Retain"},
      {"csi", JsonObject{{"driver", kDriver}, {"volumeHandle", name}}}};
  for (const std::string_view level : {"host", "zone"})
    if (const auto at = settings.find(std::string(level)); at != settings.end())
      spec["nodeAffinity"] = JsonObject{
          {"required",
           JsonObject{{"nodeSelectorTerms",
                       JsonArray{JsonObject{
                           {"matchExpressions",
                            JsonArray{JsonObject{{"key", label_key(level)},
                                                 {"operator", "In"},
                                                 {"values", JsonArray{at->second}}}}}}}}}}};
  return Made{&api::kinds::persistent_volume(), "",
              JsonObject{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}}};
}

Result<Made> read_claim(const Line& line, const std::string& name, Words words) {
  auto settings = TRY(read_settings(line, words, "class size mode"));
  Json claim =
      claim_manifest(name, settings["class"], settings.contains("size") ? settings["size"] : "1Gi");
  if (settings.contains("mode"))
    claim.as_object()["spec"].as_object()["accessModes"] = JsonArray{settings["mode"]};
  if (!settings.contains("class")) claim.as_object()["spec"].as_object().erase("storageClassName");
  return Made{&api::kinds::persistent_volume_claim(), std::string(kScenarioNamespace),
              std::move(claim)};
}

Result<Made> read_limit(const Line& line, const std::string& node, Words words) {
  auto settings = TRY(read_settings(line, words, "volumes"));
  return Made{
      &api::kinds::csi_node(), "",
      JsonObject{
          {"metadata", JsonObject{{"name", node}}},
          {"spec",
           JsonObject{
               {"drivers",
                JsonArray{JsonObject{
                    {"name", kDriver},
                    {"nodeID", node},
                    {"allocatable",
                     JsonObject{{"count", TRY(read_number(line, settings["volumes"]))}}}}}}}}}};
}

Result<Made> read_made(const Line& line) {
  Words words(line, 1);
  const std::string name = TRY(words.need("a name"));
  const std::string& what = line.words.front();
  if (what == "class") return read_class(line, name, words);
  if (what == "volume") return read_volume(line, name, words);
  if (what == "claim") return read_claim(line, name, words);
  if (what == "limit") return read_limit(line, name, words);
  return fail_at(line, "`{}` is no storage; there are class, volume, claim and limit", what);
}

}  // namespace

Result<Action> read_storage(const Line& line) {
  if (line.words.size() > 1) return fail_at(line, "list the objects in the lines below");
  std::vector<Made> all;
  for (const Line& below : line.below) all.push_back(TRY(read_made(below)));
  return [all](Stage& stage) -> Result<void> {
    for (const Made& made : all) TRY(stage.create(*made.kind, made.name_space, made.document));
    return {};
  };
}

Result<std::function<Unmet(const Stage&)>> read_claim_expectation(Words words) {
  const std::string name = TRY(words.need("the name of a claim"));
  const std::string phase = TRY(words.need("its phase"));
  TRY(words.end());
  return [name, phase](const Stage& stage) -> Unmet {
    const api::ObjectPtr claim =
        stage.world().get(api::kinds::persistent_volume_claim(), kScenarioNamespace, name);
    if (claim == nullptr) return "there is no such claim";
    const std::string& seen = claim->view<api::ClaimView>().phase;
    return seen == phase ? std::nullopt : Unmet("it is " + seen);
  };
}

}  // namespace muster::sim
