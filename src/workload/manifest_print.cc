#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/yaml_write.h"
#include "base/count_of.h"
#include "workload/manifest.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

std::string_view name_of(const Json& document) {
  return api::find_string(api::part_of(document, "metadata"), "name");
}

const PodLink* link_to(const CompiledManifest& manifest, const Json& document) {
  if (api::find_string(document, "kind") != "PodGroup") return nullptr;
  for (const PodLink& link : manifest.links)
    if (link.pod_group == name_of(document)) return &link;
  return nullptr;
}

// "gang of 4, within one rack, disrupted together, priority class high".
std::string words(const Json& spec) {
  std::vector<std::string> out;
  const Json* gang = api::find_set(api::part_of(spec, "schedulingPolicy"), "gang");
  if (gang == nullptr) {
    out.emplace_back("pods one by one");
  } else if (const auto groups = api::find_integer(*gang, "minGroupCount")) {
    out.push_back("gang of " + count_of(*groups, "group"));
  } else {
    out.push_back(fmt::format("gang of {}", api::find_integer(*gang, "minCount").value_or(0)));
  }
  for (const Json& topology :
       api::elements(api::part_of(spec, "schedulingConstraints"), "topology"))
    out.push_back(fmt::format("within one {}", api::find_string(topology, "key")));
  if (api::find_set(api::part_of(spec, "disruptionMode"), "all") != nullptr)
    out.emplace_back("disrupted together");
  for (const Json& claim : api::elements(spec, "resourceClaims"))
    out.push_back(fmt::format("claim {}", api::find_string(claim, "name")));
  if (const std::string_view priority = api::find_string(spec, "priorityClassName");
      !priority.empty())
    out.push_back(fmt::format("priority class {}", priority));
  return fmt::format("{}", fmt::join(out, ", "));
}

// One line of a drawing and what hangs below it.
struct Branch {
  std::string line;
  std::vector<std::size_t> below;
};

// What belongs to what: groups below their parents, the topmost below their Workload, that below
// its owner, pods below their group.
class Drawing {
 public:
  explicit Drawing(const CompiledManifest& manifest) {
    for (const Json& document : manifest.documents) place(document, manifest);
  }

  std::string text() const {
    std::string out;
    for (const std::size_t root : roots_) {
      out += branches_[root].line + "\n";
      draw_below(root, "", out);
    }
    return out;
  }

 private:
  void place(const Json& document, const CompiledManifest& manifest) {
    const std::string_view kind = api::find_string(document, "kind");
    const std::string name(name_of(document));
    const Json& spec = api::part_of(document, "spec");
    std::string line = fmt::format("{} {}", kind, name);
    std::string parent;
    if (kind == "PodGroup" || kind == "CompositePodGroup") {
      line += ": " + words(spec);
      const std::string_view above = api::find_string(spec, "parentCompositePodGroupName");
      parent = above.empty()
                   ? fmt::format("Workload {}", api::find_string(api::part_of(spec, "workloadRef"),
                                                                 "workloadName"))
                   : fmt::format("CompositePodGroup {}", above);
    } else if (kind == "Workload") {
      const Json& owner = api::part_of(spec, "controllerRef");
      parent =
          fmt::format("{} {}", api::find_string(owner, "kind"), api::find_string(owner, "name"));
    }
    const std::size_t at = hang(std::move(line), parent);
    by_name_.emplace(fmt::format("{} {}", kind, name), at);
    if (const PodLink* link = link_to(manifest, document))
      hang_below(fmt::format("{} pod{} of {} {}", link->pods, link->pods == 1 ? "" : "s",
                             link->kind, link->job),
                 at);
    // What is made for the Jobs of a CronJob hangs below it.
    if (kind == "CronJob") by_name_.emplace("Job " + run_of_cron_job(name), at);
  }

  std::size_t hang(std::string line, const std::string& parent) {
    const auto above = by_name_.find(parent);
    if (above != by_name_.end()) return hang_below(std::move(line), above->second);
    branches_.push_back({.line = std::move(line), .below = {}});
    roots_.push_back(branches_.size() - 1);
    return branches_.size() - 1;
  }
  std::size_t hang_below(std::string line, std::size_t above) {
    branches_.push_back({.line = std::move(line), .below = {}});
    branches_[above].below.push_back(branches_.size() - 1);
    return branches_.size() - 1;
  }

  void draw_below(std::size_t at, const std::string& indent, std::string& out) const {
    const std::vector<std::size_t>& below = branches_[at].below;
    for (const std::size_t each : below) {
      const bool last = each == below.back();
      out += indent + (last ? "└─ " : "├─ ") + branches_[each].line + "\n";
      draw_below(each, indent + (last ? "   " : "│  "), out);
    }
  }

  std::vector<Branch> branches_;
  std::vector<std::size_t> roots_;
  std::map<std::string, std::size_t> by_name_;
};

}  // namespace

std::string run_of_cron_job(std::string_view cron_job) { return fmt::format("{}-0", cron_job); }

std::string print_yaml(const CompiledManifest& manifest) {
  std::string out;
  for (const Json& document : manifest.documents) {
    if (!out.empty()) out += "---\n";
    if (const PodLink* link = link_to(manifest, document))
      out += fmt::format("# The pods of {} {} get spec.schedulingGroup.podGroupName: {}\n",
                         link->kind, link->job, link->pod_group);
    out += api::to_yaml(document);
  }
  return out;
}

std::string print_json(const CompiledManifest& manifest) {
  JsonArray items;
  for (const Json& document : manifest.documents) items.push_back(document);
  JsonArray links;
  for (const PodLink& link : manifest.links)
    links.push_back(JsonObject{{link.kind == "JobSet" ? "jobSet" : "job", link.job},
                               {"pods", link.pods},
                               {"podGroupName", link.pod_group}});
  return api::to_text(JsonObject{{"apiVersion", "v1"},
                                 {"kind", "List"},
                                 {"items", std::move(items)},
                                 {"links", std::move(links)}}) +
         "\n";
}

std::string print_tree(const CompiledManifest& manifest) { return Drawing(manifest).text(); }

}  // namespace muster::workload
