#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/object.h"

namespace muster::scheduler {

// Small nodes and pods for tests and benchmarks: fields that matter by name, the rest as JSON text.
struct NodeSample {
  std::string name;
  std::string cpu = "4";
  std::string memory = "8Gi";
  std::int64_t pods = 110;  // below 0: no entry
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> extended = {};  // further allocatable resources
  std::string taints = {};                           // JSON array, or empty
  bool unschedulable = false;
  std::string status = {};  // more members of status, as JSON text

  api::ObjectPtr make() const;
};

struct PodSample {
  std::string name;
  std::string cpu = {};  // empty: no request
  std::string memory = {};
  std::map<std::string, std::string> extended = {};
  std::string node_name = {};
  std::string nominated_node = {};
  std::string group = {};
  std::int64_t priority = 0;
  std::string spec = {};    // more members of spec, as JSON text: "\"tolerations\":[…]"
  std::string status = {};  // more members of status
  std::string name_space = "default";
  bool terminating = false;
  std::string ports = {};  // of the container: JSON array, or empty
  std::map<std::string, std::string> labels = {};
  std::string metadata = {};  // more members of metadata

  api::ObjectPtr make() const;
};

api::ObjectPtr namespace_of(const std::string& name,
                            const std::map<std::string, std::string>& labels);
api::ObjectPtr node_of(std::string_view json);
api::ObjectPtr pod_of(std::string_view json);

}  // namespace muster::scheduler
