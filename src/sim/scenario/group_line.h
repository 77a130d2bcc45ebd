#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "sim/scenario/company_words.h"
#include "sim/scenario/line.h"

namespace muster::sim {

// Pods that are alike, as a line of a scenario describes them.
struct PodLine {
  std::string name = {};  // of a shape among several in one group; empty for the only one
  int count = 1;
  std::vector<std::pair<std::string, std::string>> resources = {};
  api::JsonArray tolerations = {};
  api::JsonObject node_selector = {};
  std::vector<int> ports = {};
  std::string image = "app:1";
  bool host_network = false;
  bool own_users = false;  // apart from those of the node
  Company company = {};
  std::optional<int> priority = {};  // unset: the group's
  bool gated = false;
  bool never_preempts = false;
  std::string runs_for = {};
  std::string stops_in = {};
  std::string exit_code = {};
  std::vector<std::string> resource_claims = {};                      // for devices
  std::vector<std::string> claims = {};                               // that each of them mounts
  std::optional<std::pair<std::string, std::string>> own_claim = {};  // class and size, one each
};

enum class GroupRole : std::uint8_t { Gang, Basic, Composite };

// A group and all below it, as a line of a scenario and those indented under it describe them.
struct GroupLine {
  GroupRole role = GroupRole::Gang;
  std::string name = {};
  std::string within = {};           // label key; empty: anywhere in the parent's domain
  std::optional<int> minimum = {};   // unset: all pods, or all children
  std::optional<int> priority = {};  // unset: the parent's
  std::optional<int> expects = {};   // pods there will be in the end
  std::string prefers = {};          // the key of its preferred topology, or empty
  std::string prefers_for = {};      // how long it waits for that, as written, or empty
  std::string parent = {};           // a parent other than the group it is indented under
  std::string owner = {};            // the pod that it and its pods are made for, or empty
  bool basic = false;                // of a composite: any child will do
  bool disrupted_together = false;   // disrupts=all
  bool never_preempts = false;       // unset: the parent's
  std::vector<PodLine> pods = {};
  std::vector<GroupLine> children = {};
};

// "pod web  cpu=1": a lone pod, or several that are alike.
struct LonePods {
  std::string name;
  PodLine pods;
};
Result<LonePods> read_lone_pods(const Line& line, Words words);

// "gang train  pods=4  gpu=8  within=rack  min=3" and the shapes below it; "workload llm
// within=zone" and the groups below it. The words begin after `submit`.
Result<GroupLine> read_group(const Line& line, Words words);
bool is_group_word(std::string_view word);

// One word about pods; false if it is another word.
Result<bool> read_pod_word(const Line& line, std::string_view word, PodLine& pods);

}  // namespace muster::sim
