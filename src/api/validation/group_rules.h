#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "api/gates/gates.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// A value and what it replaces. Null: unset; nothing is replaced on create.
struct Edit {
  const Json* now = nullptr;
  const Json* old = nullptr;

  Edit member(std::string_view name) const;
  // As member(), for fields where an empty text or list is the same as none.
  Edit filled_member(std::string_view name) const;
};

// The rules that upstream derives from tags on the fields of PodGroups, composites and their
// templates, in the order and with the short cuts of its generated code:
//
//   unchanged since it was stored? ──yes──▶ fine, whatever it is
//        │no
//   forbidden, immutable, required, too many ──any──▶ said, and nothing else about this field
//        │none
//   format, bounds, what is inside
//
// Each function takes the holder of a field and looks at that field alone. On update both sides
// must have gone through normalized().
class GroupRules {
 public:
  enum class Write : std::uint8_t { Create, Update };
  GroupRules(Write write, const Gates& gates, FieldErrors& errors)
      : update_(write == Write::Update), gates_(gates), errors_(errors) {}

  // What is checked before looking into a field.
  struct Entry {
    bool forbidden = false;  // its gate is off
    bool fixed = true;       // may not change after create
    bool required = false;
  };

  void controller_ref(const Edit& spec, const FieldPath& path);
  void parent_name(const Edit& spec, const FieldPath& path, const Entry& entry);
  void workload_ref(const Edit& spec, const FieldPath& path, const Entry& entry);
  // `minimum` is "minCount" for a group of pods, "minGroupCount" for a group of groups.
  void policy(const Edit& holder, const FieldPath& path, std::string_view minimum);
  void constraints(const Edit& holder, const FieldPath& path, const Entry& entry);
  void claims(const Edit& holder, const FieldPath& path);
  void disruption_mode(const Edit& holder, const FieldPath& path, const Entry& entry);
  // priorityClassName, priority and preemptionPolicy, which occur together everywhere.
  void priority(const Edit& holder, const FieldPath& path);

  // Exactly one of the members must be set; on update checked only if different ones are set.
  void one_of(const Edit& holder, const FieldPath& path, std::span<const std::string_view> members);
  void pod_group_templates(const Edit& holder, const FieldPath& path);
  void composite_templates(const Edit& holder, const FieldPath& path, const Entry& entry);

  // The building blocks that controllers embed in their own APIs, each at its own path. A gang may
  // leave its minimum to the controller.
  void policy_block(const Edit& policy, const FieldPath& here, std::string_view minimum);
  void constraints_block(const Json& constraints, const FieldPath& here);
  void disruption_block(const Edit& mode, const FieldPath& here);
  void claims_block(const JsonArray& claims, const FieldPath& here);

  bool unchanged(const Edit& field) const;
  // Reports upstream's sentence for what may not change.
  void immutable(const FieldPath& path);

 private:
  using Check = Messages (*)(std::string_view);
  struct TemplateKind {
    const schema::Message& message;
    void (GroupRules::*rules)(const Edit& item, const FieldPath& path);
  };

  // True if the field is set and there is reason to look into it.
  bool enter(const Edit& field, const FieldPath& path, const Entry& entry);
  void text(const Edit& holder, const FieldPath& path, std::string_view name, const Entry& entry,
            Check check);
  void preemption_policy(const Edit& holder, const FieldPath& path);
  void claim(const Json& claim, const FieldPath& path);
  void templates(const Edit& list, const FieldPath& path, const Entry& entry,
                 const TemplateKind& kind);
  void fixed_set(const Edit& list, const FieldPath& path);
  void pod_group_template(const Edit& item, const FieldPath& path);
  void composite_template(const Edit& item, const FieldPath& path);

  bool update_;
  const Gates& gates_;
  FieldErrors& errors_;
};

// Refuses list items with the same name: one error for each that repeats an earlier one.
void refuse_same_names(const JsonArray& items, const schema::Message& message,
                       const FieldPath& path, FieldErrors& errors);

// The items of a list by name, the first of equal ones. Refers to the list, which may be null.
class NamedItems {
 public:
  explicit NamedItems(const JsonArray* items);
  // Null if there is none of that name.
  const Json* find(std::string_view name) const;

 private:
  std::map<std::string_view, const Json*> by_name_;
};

}  // namespace muster::api
