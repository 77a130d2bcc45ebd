#include "explain/taints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "api/views/tolerations.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;

// As the scheduler says it, which is as upstream says it.
constexpr std::string_view kSaid = "untolerated taint(s)";
constexpr std::size_t kNamedMax = 3;

std::string text_of(const api::Taint& taint) {
  return taint.value.empty() ? fmt::format("{{{}}}", taint.key)
                             : fmt::format("{{{}: {}}}", taint.key, taint.value);
}

// By the first taint of each node that keeps one of the pods off; those of the most nodes first.
std::vector<std::string> taints_against(const scheduler::ClusterModel& model,
                                        const std::vector<ObjectPtr>& pods) {
  std::set<std::vector<api::Toleration>> distinct;
  for (const ObjectPtr& pod : pods) distinct.insert(pod->view<api::PodView>().needs.tolerations);
  std::map<std::string, std::int64_t> nodes_by_taint;
  for (const ObjectPtr& node : model.nodes()) {
    const auto& view = node->view<api::NodeView>();
    if (view.taints.empty() || view.unschedulable) continue;
    for (const std::vector<api::Toleration>& tolerations : distinct)
      for (const api::Taint& taint : view.taints)
        if (api::repels({taint}, tolerations)) {
          ++nodes_by_taint[text_of(taint)];
          break;
        }
  }
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [text, nodes] : nodes_by_taint) sorted.emplace_back(-nodes, text);
  std::ranges::sort(sorted);
  std::vector<std::string> texts;
  for (auto& [nodes, text] : sorted) texts.push_back(std::move(text));
  return texts;
}

void replace_all(std::string& text, const std::string& by) {
  for (std::size_t at = text.find(kSaid); at != std::string::npos;
       at = text.find(kSaid, at + by.size()))
    text.replace(at, kSaid.size(), by);
}

}  // namespace

void name_taints(const scheduler::ClusterModel& model, const std::vector<ObjectPtr>& pods,
                 Explanation& about) {
  bool is_said = about.sentence.find(kSaid) != std::string::npos;
  for (const NodeReasons& reasons : about.reasons)
    for (const auto& [text, nodes] : reasons.refusals)
      is_said = is_said || text.find(kSaid) != std::string::npos;
  if (!is_said) return;
  std::vector<std::string> taints = taints_against(model, pods);
  if (taints.empty()) return;
  if (taints.size() > kNamedMax) {
    taints.resize(kNamedMax);
    taints.emplace_back("…");
  }
  const std::string named =
      fmt::format("untolerated taint{} {}", taints.size() == 1 ? "" : "s", fmt::join(taints, ", "));
  replace_all(about.sentence, named);
  for (Level& level : about.tree) replace_all(level.why, named);
  for (NodeReasons& reasons : about.reasons)
    for (auto& [text, nodes] : reasons.refusals) replace_all(text, named);
}

}  // namespace muster::explain
