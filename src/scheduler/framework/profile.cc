#include "scheduler/framework/profile.h"

namespace muster::scheduler {

Profile::Profile() : identity_(std::make_shared<const int>(0)) {}

std::optional<std::string> Profile::pre_enqueue(const api::Object& pod) const {
  for (const Entry<Gate>& gate : gates_)
    if (auto reason = gate.plugin->holds_back(pod)) return reason;
  return std::nullopt;
}

std::optional<std::string_view> Profile::gated_by(const api::Object& pod) const {
  for (const Entry<Gate>& gate : gates_)
    if (gate.plugin->holds_back(pod)) return gate.name;
  return std::nullopt;
}

bool Profile::could_help(std::string_view plugin, const api::Object& pod,
                         const ClusterEvent& event) const {
  for (const Entry<Hints>& hints : hints_)
    if (hints.name == plugin) return hints.plugin->could_help(pod, event);
  return true;
}

}  // namespace muster::scheduler
