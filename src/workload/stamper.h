#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/result.h"
#include "workload/builder.h"

namespace muster::workload {

// Makes groups from the templates of a Workload, whether just built or read from the API. Refers to
// the document, which must outlive it.
class Stamper {
 public:
  explicit Stamper(const api::Json& workload);

  struct Template {
    const api::Json* document = nullptr;
    bool composite = false;
    std::string_view parent;  // template of the group above; empty for a root
    bool inside_all = false;  // below one whose disruptionMode is all
  };
  // By name, at any depth; null if there is none.
  const Template* find(std::string_view template_name) const;
  // Names of all templates, parents before children.
  std::span<const std::string_view> templates() const { return order_; }

  struct Group {
    std::string name;
    std::string template_name;
    std::string parent = {};  // the CompositePodGroup it is part of; empty for a root
    std::vector<Owner> owners = {};
  };
  // Documents for create requests (without apiVersion and kind), with everything that the template
  // says. A template without a disruption mode below one that is disrupted as a whole gives groups
  // that are disrupted as a whole. NotFound lists the templates there are; BadRequest if the
  // template is of the other kind.
  Result<api::Json> pod_group(const Group& group) const;
  Result<api::Json> composite(const Group& group) const;

 private:
  void add(const api::Json& holder, std::string_view parent, bool inside_all);
  Result<api::Json> make(const Group& group, bool composite) const;

  const api::Json& workload_;
  std::vector<std::string_view> order_;
  std::map<std::string_view, Template> by_name_;
};

// A group to be created: of which kind, and its document.
struct StampedGroup {
  const api::Kind* kind = nullptr;
  api::Json document;
};
// One group for each template, parents before children and each child named after its parent: for
// controllers that run every template once. Names are those of group_name() (names.h).
std::vector<StampedGroup> stamp_each(const api::Json& workload, const std::vector<Owner>& owners);

// A reference to the Workload as a further owner: not as controller, and not blocking its
// deletion.
Owner workload_owner(const api::Json& workload);

}  // namespace muster::workload
