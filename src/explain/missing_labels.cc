#include "explain/missing_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/views/pod_view.h"
#include "explain/near_names.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;

constexpr std::size_t kSentencesMax = 3;
constexpr std::size_t kValuesShown = 3;

// Which labels the nodes have.
class Labels {
 public:
  explicit Labels(const std::vector<ObjectPtr>& nodes) {
    for (const ObjectPtr& node : nodes)
      for (const auto& [key, value] : node->meta().labels) {
        ++nodes_by_value_[key][value];
        keys_.insert(key);
      }
  }

  bool has(const std::string& key) const { return nodes_by_value_.contains(key); }
  bool has(const std::string& key, const std::string& value) const {
    const auto at = nodes_by_value_.find(key);
    return at != nodes_by_value_.end() && at->second.contains(value);
  }

  std::string no_key(const std::string& key) const {
    const std::string near = nearest(key, keys_);
    return fmt::format("no node has the label {}{}", key,
                       near.empty() ? "" : fmt::format("; did you mean {}?", near));
  }

  // The values there are, those of the most nodes first.
  std::string no_value(const std::string& key, const std::vector<std::string>& values) const {
    if (!has(key)) return no_key(key);
    std::vector<std::pair<std::int64_t, std::string>> there;
    for (const auto& [value, nodes] : nodes_by_value_.at(key)) there.emplace_back(-nodes, value);
    std::ranges::sort(there);
    std::vector<std::string> shown;
    for (const auto& [nodes, value] : there)
      if (shown.size() < kValuesShown)
        shown.push_back(fmt::format("{} on {}", value, count_of(-nodes, "node")));
    if (there.size() > kValuesShown)
      shown.push_back(fmt::format("{} other values", there.size() - kValuesShown));
    return fmt::format("no node has the label {}={}; it is {}", key, fmt::join(values, " or "),
                       fmt::join(shown, ", "));
  }

 private:
  std::map<std::string, std::map<std::string, std::int64_t>> nodes_by_value_;
  std::set<std::string> keys_;
};

void look_at(const Labels& labels, const api::PodNeeds& needs, std::vector<std::string>& out) {
  const auto want = [&](const std::string& key, const std::vector<std::string>& values) {
    if (std::ranges::none_of(values,
                             [&](const std::string& value) { return labels.has(key, value); }))
      out.push_back(labels.no_value(key, values));
  };
  for (const auto& [key, value] : needs.node_selector) want(key, {value});
  // With several terms one of them may still match.
  if (needs.required.size() != 1) return;
  for (const api::NodeRequirement& requirement : needs.required.front().expressions) {
    if (requirement.op == api::SelectorOperator::In) want(requirement.key, requirement.values);
    if (requirement.op == api::SelectorOperator::Exists && !labels.has(requirement.key))
      out.push_back(labels.no_key(requirement.key));
  }
}

}  // namespace

std::vector<std::string> missing_labels(const scheduler::ClusterModel& model, const Tree* tree,
                                        const std::vector<ObjectPtr>& pods) {
  const std::vector<ObjectPtr> nodes = model.nodes();
  if (nodes.empty()) return {};
  const Labels labels(nodes);
  std::vector<std::string> found;
  if (tree != nullptr)
    for (const Level& level : tree->levels)
      if (!level.topology_key.empty() && !labels.has(level.topology_key))
        found.push_back(labels.no_key(level.topology_key));
  std::set<std::uint64_t> seen;
  for (const ObjectPtr& pod : pods)
    if (const auto& view = pod->view<api::PodView>(); seen.insert(view.needs_hash).second)
      look_at(labels, view.needs, found);
  std::vector<std::string> sentences;  // each once
  for (std::string& sentence : found)
    if (std::ranges::find(sentences, sentence) == sentences.end() &&
        sentences.size() < kSentencesMax)
      sentences.push_back(std::move(sentence));
  return sentences;
}

}  // namespace muster::explain
