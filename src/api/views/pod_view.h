#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/condition.h"
#include "api/views/pod_needs.h"

namespace muster::api {

// A PersistentVolumeClaim that a pod mounts.
struct PodClaim {
  std::string name;        // of the claim; if it is ephemeral, of the volume
  bool ephemeral = false;  // made for this pod alone: its claim is called <pod>-<volume>
};
std::string claim_name(const Object& pod, const PodClaim& claim);

class PodTemplates;

// The fields of a Pod that the scheduler and its neighbours read.
struct PodView : View {
  static std::unique_ptr<PodView> read(const Object& pod);
  // From a document; `read` without an Object around it.
  static std::unique_ptr<PodView> of(const Json& document, PodTemplates* templates = nullptr);

  PodView() : PodView(std::make_shared<const PodTemplate>()) {}
  explicit PodView(std::shared_ptr<const PodTemplate> made_from)
      : needs(made_from->needs),
        needs_hash(made_from->needs_hash),
        images(made_from->images),
        scheduler_name(made_from->scheduler_name),
        template_(std::move(made_from)) {}

  // Of its template.
  const PodNeeds& needs;
  const std::uint64_t needs_hash;
  const std::vector<std::string>& images;
  const std::string& scheduler_name;

  std::string node_name;  // spec.nodeName
  std::int32_t priority = 0;
  bool never_preempts = false;  // preemptionPolicy Never
  std::vector<std::string> scheduling_gates;
  std::string scheduling_group;  // spec.schedulingGroup.podGroupName
  std::string nominated_node;    // status.nominatedNodeName
  std::string phase;
  std::optional<Time> start_time;  // status.startTime
  std::vector<Condition> conditions;
  // In the order of its volumes. Not part of its needs: which claim it is matters less than what
  // the claim says (scheduler/volumes).
  std::vector<PodClaim> claims;

  bool is_terminal() const { return phase == "Succeeded" || phase == "Failed"; }
  const Condition* condition(std::string_view type) const;

 private:
  std::shared_ptr<const PodTemplate> template_;
};

NodeSelectorTerm read_node_selector_term(const Json& term);

}  // namespace muster::api
