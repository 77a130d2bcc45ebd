#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"

namespace muster::api {

// The fields of a Workload that controllers read: its owner, and the templates of its groups.
struct WorkloadView : View {
  static std::unique_ptr<WorkloadView> read(const Object& workload);

  struct Template {
    std::string name;
    bool composite = false;
    bool gang = false;
    std::int32_t minimum = 1;  // of a gang
    std::size_t depth = 0;     // 0: at the top
  };
  // spec.controllerRef; empty where there is none.
  std::string owner_group;
  std::string owner_kind;
  std::string owner_name;
  std::vector<Template> templates;  // parents before children

  const Template* find(std::string_view name) const;
  // The first template of pods, at any depth; null if there is none.
  const Template* first_leaf() const;
};

}  // namespace muster::api
