#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/budget.h"
#include "api/json.h"
#include "base/result.h"

namespace muster::api {

// A set of paths in a document: which fields a manager owns. A tree whose edges are path elements
// as FieldsV1 writes them: `f:image` a member, `k:{"name":"c"}` a list item by its keys, `v:"x"` a
// set item by its value, `i:0` an item by its place.
struct FieldSet {
  bool member = false;  // the path that leads here is in the set
  std::map<std::string, FieldSet, std::less<>> children = {};

  bool empty() const { return !member && children.empty(); }
  // The set below a path element; null if there is nothing.
  const FieldSet* below(std::string_view element) const;

  friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

FieldSet united(FieldSet a, FieldSet b);
FieldSet common(const FieldSet& a, const FieldSet& b);
// The paths of `a` that are not in `b`.
FieldSet without(FieldSet a, const FieldSet& b);
// The paths of `a` that are neither in `b` nor below a path of `b`.
FieldSet without_subtrees(FieldSet a, const FieldSet& b);

// A path element as messages print it: `.image`, `[name="c"]`.
std::string printed_element(std::string_view element);

// Each path as messages print it: `.spec.containers[name="c"].image`, in the order of the set; the
// first ones, and how many there are in all.
struct PrintedPaths {
  std::vector<std::string> first;
  std::size_t count = 0;
};
PrintedPaths printed_paths(const FieldSet& set, std::size_t paths_max = kLimits.causes);

Json to_fields_v1(const FieldSet& set);
// Whether FieldsV1 knows such an edge: `f:image`, `k:{"name":"c"}`.
bool is_path_element(std::string_view text);
// BadRequest if it is not a tree of path elements.
Result<FieldSet> parse_fields_v1(const Json& fields);

// A set from paths such as "spec" or "metadata.name" (members only).
FieldSet field_set(const std::vector<std::string>& dotted_paths);

}  // namespace muster::api
